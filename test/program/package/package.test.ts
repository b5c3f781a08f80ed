/** Covers the package apart from its folder: the manual page of an installation, and the entries of the package. */
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { testFull } from "../../support/tier.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test.skipIf(process.platform === "win32")("npm install -g puts the manual page where man looks for it", () => {
  const folder = temporaryFolder();
  // Without the dependencies, which npm would fetch, and the scripts.
  const { name, version, bin, man } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, bin, man }));
  for (const part of ["bin", "dist/man"]) cpSync(join(root, part), join(folder, part), { recursive: true });
  const npm = (...args: string[]) =>
    execFileSync("npm", [...args, "--offline", "--silent"], { cwd: folder, encoding: "utf8" });
  const tarball = npm("pack").trim();
  npm("install", "-g", "--prefix", join(folder, "installed"), `./${tarball}`);
  expect(readFileSync(join(folder, "installed/share/man/man1/idv.1"), "utf8")).toMatch(/^\.TH IDV 1 /m);
});

testFull("npm finds, and types describe, each entry of the package", () => {
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  // Made before all tests where they run the package.
  if (!process.env["IDV_TEST_PACKAGE"]) run("src/package/release/build-packages.mjs");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const tarball = `dist/packages/idv-${version}.tgz`;
  run("test/tool.mjs", "publint", "--strict", tarball);
  run("test/tool.mjs", "attw", tarball, "--profile", "esm-only", "--quiet");
});
