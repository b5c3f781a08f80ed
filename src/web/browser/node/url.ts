/** Replaces Node's `domainToASCII` (by the host parser of the browser) and `domainToUnicode` (by punycode). */
import { decode } from "punycode/punycode.es6.js";

const before = "a.invalid";

/** Empty if the name is not a valid host. */
export function domainToASCII(name: string): string {
  const url = new URL(`ws://${before}`);
  url.hostname = name;
  const { hostname } = url;
  return hostname === before && name !== before ? "" : hostname;
}

export function domainToUnicode(name: string): string {
  return name.split(".").map(unicodeLabel).join(".");
}

function unicodeLabel(label: string): string {
  if (!label.startsWith("xn--")) return label;
  try {
    const text = decode(label.slice(4));
    return domainToASCII(text) === label ? text : label;
  } catch {
    return label;
  }
}
