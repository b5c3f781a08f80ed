/** The type of the ECMAScript module of `punycode`, which it lacks. */
declare module "punycode/punycode.es6.js" {
  export function decode(text: string): string;
}
