/** Finds items that are certainly invalid, so that they are not submitted and charged. */
import { parseAddress } from "../../core/classifier/syntax/address.js";
import { parseDomainName, withoutRoot } from "../../core/classifier/syntax/domain-name.js";
import { Fault } from "../../core/classifier/syntax/fault.js";
import type { Kind, Verdict } from "../../core/validator/validator.js";

/**
 * Returns the verdict `fake` on an item that cannot be an address or a domain. Lenient on purpose: accepts three
 * deviations from the RFCs that occur in practice. Local parts may have consecutive dots or a dot at the start or end,
 * as Japanese carriers assigned them. Domains may contain `_`, as DNS allows, and end with the dot of the root.
 *
 * @returns undefined if only the service can decide
 */
export function precheck(kind: Kind, item: string): Verdict | undefined {
  const parse = kind === "email" ? parseAddress : parseDomainName;
  const fault = parse(item);
  if (!(fault instanceof Fault) || !(parse(withoutOddities(item)) instanceof Fault)) return undefined;
  return { status: "fake", reason: fault.reason };
}

function withoutOddities(item: string): string {
  const domainStart = item.lastIndexOf("@") + 1;
  const local = item.slice(0, domainStart).replace(/^\.|\.(?=[.@])/g, "x");
  return local + withoutRoot(item.slice(domainStart)).replaceAll("_", "x");
}
