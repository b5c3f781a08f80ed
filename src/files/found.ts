/** Looks at a file that may be missing or inaccessible. */
import { fstatSync, type Stats, statSync } from "node:fs";

/**
 * Returns the state of the file at a path or descriptor; undefined if it is missing or inaccessible. If that matters,
 * opening it reports the reason.
 */
export function found(place: string | number): Stats | undefined {
  try {
    return typeof place === "string" ? statSync(place) : fstatSync(place);
  } catch {
    return undefined;
  }
}
