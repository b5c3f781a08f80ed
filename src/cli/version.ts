/** The version of idv, and what it runs on. */
import { arch, platform, versions } from "node:process";
import { isBinary, readOwnFile } from "../package/own-files.js";

let own: string | undefined;

/** package.json is as far from this file as from the bundle. */
export function version(): string {
  own ??= (JSON.parse(packageText()) as { version: string }).version;
  return own;
}

const packageText = (): string => Buffer.from(readOwnFile(new URL("../../package.json", import.meta.url))).toString();

export const versionFacts = () => ({
  version: version(),
  form: isBinary ? "binary" : "package",
  runtime: versions["bun"] ? "bun" : versions["deno"] ? "deno" : "node",
  node: versions.node,
  platform,
  arch,
});
