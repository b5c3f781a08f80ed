/** Makes single binaries, before the tests of projects that need one. Needs a build. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../src/package/release/build-binary.mjs", import.meta.url));

/** @param target system that the binary is for; without one, this machine's */
export function buildBinary(target?: string): void {
  execFileSync(process.execPath, [script, ...(target === undefined ? [] : ["--target", target])]);
}

export const setup = (): void => buildBinary();
