/**
 * What the browser build puts in the place of Node's `domainToASCII` and `domainToUnicode`: the host parser of the browser (URL
 * Standard, section 3.3), and punycode for the way back, which browsers have not.
 */
import { decode } from "punycode/punycode.es6.js";

const before = "a.invalid";

/** Returns an empty string if the name is not a valid host. */
export function domainToASCII(name: string): string {
  const url = new URL(`ws://${before}`);
  url.hostname = name;
  const { hostname } = url;
  return hostname === before && name !== before ? "" : hostname;
}

/** Labels that encode nothing stay as they are. */
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
