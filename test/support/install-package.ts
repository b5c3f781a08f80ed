/**
 * Packs the project and installs the package in a folder of its own, so that the tests of the program run what users get.
 * Only with IDV_TEST_PACKAGE set, as `.ci/run` does: it takes some seconds. Needs a build.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "node_modules/.cache/idv-package");

export async function setup(): Promise<void> {
  if (!process.env["IDV_TEST_PACKAGE"]) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  // Without scripts: the project is built already.
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const packed = await execute("npm", pack, { cwd: root });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", filename];
  const { stdout, stderr } = await execute("npm", install, { cwd: folder });
  // Except for what npm says about the settings of its user. Notices are not about the package.
  const warnings = stderr
    .split("\n")
    .filter((line) => /^npm warn/i.test(line) && !/warn Unknown \w+ config/i.test(line));
  if (warnings.length > 0) throw new Error(`npm install prints warnings:\n${warnings.join("\n")}\n${stdout}`);
  process.env["IDV_TEST_PROGRAM"] = join(folder, "node_modules/idv/bin/idv.js");
}
