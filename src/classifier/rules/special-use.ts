/** The rule for special-use names: domains that are reserved by RFCs and receive no mail. */

/**
 * Reserved names: RFC 2606 (`example.com`, `.test`, `.example`, `.invalid`), RFC 6761 (`.localhost`), RFC 6762
 * (`.local`), RFC 7686 (`.onion`), RFC 3172 (`.arpa`).
 */
const specialUse: ReadonlySet<string> = new Set([
  "test",
  "example",
  "invalid",
  "localhost",
  "local",
  "onion",
  "arpa",
  "example.com",
  "example.net",
  "example.org",
]);

/**
 * Finds the reserved name that is `ascii` or a domain above it.
 *
 * @param ascii a host name, lower case
 */
export function findSpecialUse(ascii: string): string | undefined {
  const lastDot = ascii.lastIndexOf(".");
  const topLevel = ascii.slice(lastDot + 1);
  if (specialUse.has(topLevel)) return topLevel;
  if (!ascii.includes("example.")) return undefined;
  const twoLabels = ascii.slice(ascii.lastIndexOf(".", lastDot - 1) + 1);
  return specialUse.has(twoLabels) ? twoLabels : undefined;
}
