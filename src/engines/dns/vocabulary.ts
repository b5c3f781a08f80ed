/** Words for the help and the summary, in their own file: a run without `--dns` loads nothing else of this room. */
import { isIP, isIPv4, isIPv6 } from "node:net";

/** Limit on queries in flight. More would gain nothing: over loopback, 32 and 64 need the same time. */
export const mostInFlight = 64;

export function isServerAddress(text: string): boolean {
  const [, bracketed = "", plain = "", port = "53"] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const hasAddress = isIPv6(bracketed) || isIPv4(plain);
  return isIP(text) !== 0 || (hasAddress && Number(port) > 0 && Number(port) < 65_536);
}

export const undecidedCauses = [
  "timeout",
  "SERVFAIL",
  "REFUSED",
  "no connection",
  "invalid answer",
  "lame delegation",
  "not asked",
] as const;
export type UndecidedCause = (typeof undecidedCauses)[number];
