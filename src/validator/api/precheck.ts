import { parseAddress } from "../../classifier/syntax/address.js";
import { parseDomainName, withoutRoot } from "../../classifier/syntax/domain-name.js";
import { Fault } from "../../classifier/syntax/fault.js";
import type { Kind, Verdict } from "../validator.js";

/**
 * The verdict on what cannot be an address or a domain, whatever anybody knows of it: nobody needs to be asked. What
 * breaks the rules and exists all the same is let pass: dots side by side and at the ends of local parts, which
 * Japanese carriers gave away, `_` in domains, which DNS has, and the root's dot.
 *
 * @returns undefined where only the service can tell
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
