/** The package has no types: an array of local parts, in lower case. */
declare module "role-based-email-addresses" {
  const words: readonly string[];
  export default words;
}
