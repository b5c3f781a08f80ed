/** Looks at a file that may be missing or inaccessible. If that matters, opening it reports the reason. */
import { fstatSync, type Stats, statSync } from "node:fs";

export function found(file: string | number): Stats | undefined {
  try {
    return typeof file === "string" ? statSync(file) : fstatSync(file);
  } catch {
    return undefined;
  }
}
