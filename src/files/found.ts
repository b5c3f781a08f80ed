/** Looks at a file that may be missing or out of reach. */
import { fstatSync, type Stats, statSync } from "node:fs";

/**
 * Returns what is at a path or behind a descriptor; undefined if nothing is, or it cannot be looked at. If that matters, using
 * it reports why.
 */
export function found(place: string | number): Stats | undefined {
  try {
    return typeof place === "string" ? statSync(place) : fstatSync(place);
  } catch {
    return undefined;
  }
}
