// Reads a list of disposable domains for the benchmarks.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/** Returns the domains of one list, for inputs and for peers that look up domains. */
export function readDisposableList() {
  return JSON.parse(readFileSync(resolve("disposable-domains/index.json"), "utf8"));
}
