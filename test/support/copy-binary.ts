/** Makes the single binary of this machine and copies it into a folder of its own, so that it finds nothing beside it. */
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binaryOf } from "../../src/package/release/targets.mjs";
import { buildBinary } from "./build-binary.js";

const folder = mkdtempSync(join(tmpdir(), "idv-binary-"));

export function setup(): void {
  buildBinary();
  // Some tests run it as other users.
  chmodSync(folder, 0o755);
  process.env["IDV_TEST_PROGRAM"] = join(folder, "idv");
  copyFileSync(binaryOf(), process.env["IDV_TEST_PROGRAM"]);
}

export const teardown = (): void => rmSync(folder, { recursive: true });
