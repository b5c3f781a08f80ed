/** Looks at a file that may be missing or inaccessible. If that matters, opening it reports the reason. */
import { fstatSync, type Stats, statSync } from "node:fs";

export function found(place: string | number): Stats | undefined {
  try {
    return typeof place === "string" ? statSync(place) : fstatSync(place);
  } catch {
    return undefined;
  }
}
