/**
 * Packs what is published (see src/package/release/build-packages.mjs) and installs it as a user does, by its name, from a registry
 * that has nothing else but undici: so the tests of the program run what users get. Only with IDV_TEST_PACKAGE set, as
 * `.ci/run` does, or where the tests are about other systems.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { servePackages } from "./package-registry.js";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, "node_modules/.cache");
const folders = [join(root, "dist/packages"), join(cache, "idv-needs")];

/** Serves what is published, and undici, which it needs. */
export const serveOwnPackages = () =>
  servePackages(
    folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(".tgz"))
        .map((name) => join(folder, name)),
    ),
  );

export async function setup({ name }: TestProject): Promise<void> {
  const isWanted = process.env["IDV_TEST_PACKAGE"] || name === "platforms";
  if (!isWanted) return;
  await execute(process.execPath, [join(root, "src/package/release/build-packages.mjs")]);
  const pack = ["pack", join(root, "node_modules/undici"), "--ignore-scripts", "--silent"];
  rmSync(folders[1]!, { recursive: true, force: true });
  mkdirSync(folders[1]!, { recursive: true });
  await execute("npm", [...pack, "--pack-destination", folders[1]!]);
  const folder = join(cache, "idv-package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const registry = await serveOwnPackages();
  // npm reads no settings of the user, and has nothing in its cache.
  const env = { PATH: process.env["PATH"], HOME: folder };
  const install = ["install", "idv", "--no-audit", "--no-fund", "--no-update-notifier"];
  const { stdout, stderr } = await execute("npm", [...install, "--registry", registry.url], {
    cwd: folder,
    env,
  }).finally(() => registry.close());
  const warnings = stderr.split("\n").filter((line) => /^npm warn/i.test(line));
  if (warnings.length > 0) throw new Error(`npm install prints warnings:\n${warnings.join("\n")}\n${stdout}`);
  process.env["IDV_TEST_PROGRAM"] = join(folder, "node_modules/idv/bin/idv.js");
}
