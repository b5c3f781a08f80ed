/** The version of idv, and what it runs on. */
import { arch, platform, versions } from "node:process";
import { readOwnFile, threadLoader } from "../package/own-files.js";

/** Reads package.json, which is as far from this file as from the bundle. */
export function version(): string {
  const text = Buffer.from(readOwnFile(new URL("../../package.json", import.meta.url))).toString();
  return (JSON.parse(text) as { version: string }).version;
}

/** Returns the facts for `idv --version --json`: inventories and reports of faults need them. */
export const versionFacts = () => ({
  version: version(),
  form: threadLoader === undefined ? "package" : "binary",
  runtime: versions["bun"] ? "bun" : versions["deno"] ? "deno" : "node",
  node: versions.node,
  platform,
  arch,
});
