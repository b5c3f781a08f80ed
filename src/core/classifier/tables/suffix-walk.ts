/** Walks from a host name up to its top-level domain, for rules that match a domain with all domains below it. */
import { dot } from "../../ascii.js";

export function findSuffixIn(ascii: string, isWanted: (suffix: string) => boolean): string | undefined {
  for (let rest = ascii; ; ) {
    if (isWanted(rest)) return rest;
    const dot = rest.indexOf(".");
    if (dot === -1) return undefined;
    rest = rest.slice(dot + 1);
  }
}

/** Several times as fast as `lastIndexOf`, and called about five times per domain. */
export function lastDotBefore(name: string, end: number): number {
  let i = end - 1;
  while (i >= 0 && name.charCodeAt(i) !== dot) i--;
  return i;
}
