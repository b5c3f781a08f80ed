import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/** The domains of one of the lists, for inputs and for the peers that look domains up. */
export function readDisposableList() {
  return JSON.parse(readFileSync(resolve("disposable-domains/index.json"), "utf8"));
}
