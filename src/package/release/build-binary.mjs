// node src/package/release/build-binary.mjs [--target linux-x64]
//
// Makes idv a program of a single file: Node.js with the bundle and all other files of the package in it. Without a target,
// for the system of this machine. Needs a build. The binary is dist/binaries/idv-VERSION-TARGET[.exe].
//
// A binary has the same bundle as the package, threads included. It is Node.js 22, because newer ones do not start under the
// Wine of Debian 12, where the one for Windows is tried.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { inject } from "postject";
import { rolldown } from "rolldown";
import { binaryOf, nodeOf, ownTarget, root, targets } from "./targets.mjs";

const { values } = parseArgs({ options: { target: { type: "string", default: ownTarget } } });
const { target } = values;
if (!Object.hasOwn(targets, target)) {
  throw new Error(`${target}: no such target; there are ${Object.keys(targets).join(", ")}`);
}
const work = join(root, "dist/binaries", `work-${target}`);
mkdirSync(work, { recursive: true });

/** Files of the package by their paths in it. Native code is not needed: this Node.js has SQLite and zstd itself. */
const assets = {};
const add = (path) => {
  assets[path] = join(root, path);
};
const page = ["dist/page/index.html", "dist/page/service-worker.js"];
for (const path of [
  "package.json",
  "bin/idv.js",
  "dist/data/castle-days.tsv",
  "dist/data/popular.bin",
  "dist/help/topics.json",
  "dist/kernel/kernel.wasm",
  ...page,
])
  add(path);
for (const name of readdirSync(join(root, "dist/classifier"))) {
  if (name.endsWith(".bin")) add(`dist/classifier/${name}`);
}
for (const name of readdirSync(join(root, "dist/bundle"), { recursive: true, encoding: "utf8" })) {
  const path = `dist/bundle/${name.replaceAll("\\", "/")}`;
  if (statSync(join(root, path)).isFile()) add(path);
}
// What the bundle leaves to node_modules.
const undici = await rolldown({ input: "undici", cwd: root, platform: "node", logLevel: "warn" });
await undici.write({ file: join(work, "undici.js"), format: "cjs" });
assets["packages/undici.js"] = join(work, "undici.js");

const configuration = join(work, "sea.json");
const blob = join(work, "sea.blob");
// Relative, because the blob has it in it: the same bytes from any folder.
const main = "bin/idv.js";
writeFileSync(configuration, JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true, assets }));
execFileSync(nodeOf(ownTarget), ["--experimental-sea-config", configuration], { cwd: root, stdio: "ignore" });

const binary = binaryOf(target);
copyFileSync(nodeOf(target), binary);
chmodSync(binary, 0o755);
await inject(binary, "NODE_SEA_BLOB", readFileSync(blob), {
  sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
  machoSegmentName: "NODE_SEA",
});
rmSync(work, { recursive: true });
process.stdout.write(`${binary}: ${(statSync(binary).size / 1e6).toFixed(1)} MB\n`);
