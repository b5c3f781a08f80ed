// node src/package/release/build-release.mjs
//
// Builds what a release is made of, twice, and compares: packages for npm, binaries, packages for Debian. Takes some minutes.
// What is published is made of them by `node src/package/release/build-assets.mjs`, once the binaries for macOS are signed.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root, sumsOf, targets } from "./targets.mjs";

const options = { cwd: root, stdio: ["ignore", "ignore", "inherit"] };
const run = (script, ...args) =>
  execFileSync(process.execPath, [`src/package/release/${script}.mjs`, ...args], options);

function build() {
  execFileSync("npm", ["run", "--silent", "build"], options);
  for (const folder of ["packages", "binaries"]) rmSync(join(root, "dist", folder), { recursive: true, force: true });
  run("build-packages");
  for (const target of Object.keys(targets)) run("build-binary", "--target", target);
  for (const target of ["linux-x64", "linux-arm64"]) run("build-deb", "--target", target);
  return ["packages", "binaries"].flatMap((folder) => sumsOf(join(root, "dist", folder)));
}

const first = build();
const second = build();
const differing = second.filter((line, i) => line !== first[i]);
if (first.length !== second.length || differing.length > 0) {
  throw new Error(`two builds differ: ${differing.join(", ")}`);
}
process.stdout.write(`${second.join("\n")}\nthe same in two builds\n`);
