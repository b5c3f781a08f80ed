/** The version of idv. */
import { readOwnFile } from "../package/own-files.js";

/** Reads package.json, which is as far from this file as from the bundle. */
export function version(): string {
  const text = Buffer.from(readOwnFile(new URL("../../package.json", import.meta.url))).toString();
  return (JSON.parse(text) as { version: string }).version;
}
