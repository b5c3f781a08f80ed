/** The type of the ECMAScript module of `punycode`, which it lacks. */
declare module "punycode/punycode.es6.js" {
  /** @throws RangeError when the text is not punycode (RFC 3492) */
  export function decode(text: string): string;
}
