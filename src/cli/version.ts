/** The version of idv. */
import { readFileSync } from "node:fs";

/** Reads package.json, which is as far from this file as from the bundle. */
export function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
