/**
 * Packs what is published (see src/package/release/build-packages.mjs) and installs it in a folder of its own, so that the tests of the
 * program run what users get. Only with IDV_TEST_PACKAGE set, as `.ci/run` does, or
 * where the tests are about other systems.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { arch, platform } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const folder = join(root, "node_modules/.cache/idv-package");

export async function setup({ name }: TestProject): Promise<void> {
  const isWanted = process.env["IDV_TEST_PACKAGE"] || name === "platforms";
  if (!isWanted) return;
  await execute(process.execPath, [join(root, "src/package/release/build-packages.mjs")]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const pathOf = (name: string) => `file:${root}dist/packages/${name}-${version}.tgz`;
  // As npm finds it by the optional dependencies of idv, when it is published.
  const native = { [`@idv/native-${platform}-${arch}`]: pathOf(`idv-native-${platform}-${arch}`) };
  const own = { dependencies: { idv: pathOf("idv") }, optionalDependencies: native };
  writeFileSync(join(folder, "package.json"), JSON.stringify(own));
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline"];
  const { stdout, stderr } = await execute("npm", install, { cwd: folder });
  // Except for what npm says about the settings of its user. Notices are not about the package.
  const warnings = stderr
    .split("\n")
    .filter((line) => /^npm warn/i.test(line) && !/warn Unknown \w+ config/i.test(line));
  if (warnings.length > 0) throw new Error(`npm install prints warnings:\n${warnings.join("\n")}\n${stdout}`);
  process.env["IDV_TEST_PROGRAM"] = join(folder, "node_modules/idv/bin/idv.js");
}
