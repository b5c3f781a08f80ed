import { parseAddress } from "../classifier/address.js";
import { parseDomainName, withoutRoot } from "../classifier/domain-name.js";
import { Fault } from "../classifier/fault.js";
import type { Kind, Verdict } from "./validator.js";

/**
 * The verdict on what cannot be an address or a domain, whatever anybody knows of it: nobody needs to be asked. `_` is
 * let pass in domains, where DNS has it although host names do not.
 *
 * @returns undefined where only the service can tell
 */
export function precheck(kind: Kind, item: string): Verdict | undefined {
  const parsed =
    kind === "email" ? parseAddress(item) : parseDomainName(withoutRoot(item).replaceAll("_", "x"));
  return parsed instanceof Fault ? { status: "fake", reason: parsed.reason } : undefined;
}
