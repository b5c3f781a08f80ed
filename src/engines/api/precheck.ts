/** Finds items that are certainly invalid, so that they are not submitted and charged. */
import { parseAddress } from "../../core/classifier/syntax/address.js";
import { parseDomainName, withoutRoot } from "../../core/classifier/syntax/domain-name.js";
import { Fault } from "../../core/classifier/syntax/fault.js";
import type { Kind, Verdict } from "../../core/validator/validator.js";

/** Lenient on purpose: accepts misplaced dots, which Japanese carriers assigned, and `_` and a final dot in domains. */
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
