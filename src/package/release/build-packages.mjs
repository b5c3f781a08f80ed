// node src/package/release/build-packages.mjs
//
// Packs what is published on npm, into dist/packages: idv, without native code and without what is in its bundles, and a package
// for each platform with the native code that old versions of Node.js need. npm installs the one that fits, or none. Needs a build.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, unpack } from "./targets.mjs";

const folder = join(root, "dist/packages");
const read = (path) => JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
const own = read(root);
const { version, license, author, repository } = own;
for (const name of ["devDependencies", "scripts", "private", "allowScripts", "overrides"]) delete own[name];
const modules = join(root, "node_modules");

/** Versions of Node.js without a SQLite that is safe (see state/sqlite/database.ts) or without zstd. */
const oldNode = "<22.22.3 || >=23.0.0 <24.15.0 || ^25.0.0";
const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64", "win32-arm64"];
const native = ["@photostructure/sqlite", "@cloudpss/zstd"];

const write = (path, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};
const pack = (path) => {
  const options = ["--ignore-scripts", "--silent", "--pack-destination", folder];
  return execFileSync("npm", ["pack", ...options], { cwd: path, encoding: "utf8" }).trim();
};

/** Copies a package without its scripts and sources, and with native code for one platform only. */
function copyPackage(name, to, platform) {
  const from = join(modules, name);
  // Its dependencies are those of a build from sources, and of idv's own package.
  const { scripts: _, devDependencies: __, dependencies: ___, ...kept } = read(from);
  write(join(to, "package.json"), JSON.stringify(kept, undefined, 2));
  for (const path of readdirSync(from, { recursive: true, encoding: "utf8" })) {
    const isNative = path.startsWith(`prebuilds/${platform}/`);
    const isCode = /^(?:dist\/.*|[\w-]+)\.[cm]?js$/.test(path);
    if (isNative || isCode || /^(?:licen[cs]e|copying)/i.test(path)) cpSync(join(from, path), join(to, path));
  }
}

function packNative(platform) {
  const [os, cpu] = platform.split("-");
  const name = `@idv/native-${platform}`;
  const to = join(folder, "work", name);
  const bundled = [...native, "node-gyp-build"];
  for (const each of bundled) copyPackage(each, join(to, "node_modules", each), platform);
  const description = `SQLite and zstd for idv on ${platform}, where Node.js has none of its own`;
  const facts = { license, author, repository, os: [os], cpu: [cpu], engines: { node: oldNode } };
  const dependencies = Object.fromEntries(bundled.map((each) => [each, read(join(modules, each)).version]));
  write(
    join(to, "package.json"),
    JSON.stringify(
      { name, version, description, ...facts, main: "index.cjs", dependencies, bundleDependencies: bundled },
      undefined,
      2,
    ),
  );
  write(
    join(to, "index.cjs"),
    `exports.sqlite = () => require("${native[0]}");\nexports.zstd = () => import("${native[1]}/napi");\n`,
  );
  write(join(to, "README.md"), `${description}. npm installs it with idv.\n`);
  return pack(to);
}

/** Returns the README of the package, which is installed where that of the project is cloned. */
function readme() {
  let text = readFileSync(join(root, "README.md"), "utf8");
  const replace = (from, by) => {
    if (!from.test(text)) throw new Error(`README.md has nothing like ${from}`);
    text = text.replace(from, by);
  };
  replace(/and npm, in a clone:\n\n```sh\nnpm ci && npx idv emails fixtures\//, "and npm:\n\n```sh\nnpx idv emails ");
  replace(/^`fixtures\/signups.csv`:/m, "`signups.csv`:");
  replace(
    /^In a clone the command (?:.*\n)*?```sh\nnpm ci && npm test\n```\n/m,
    "`npm install -g idv` installs the command `idv`, as it is called below, and `npm install idv` the library for a program. The page\nof each release has programs of a single file that need no Node.js, and a package for Debian.\n",
  );
  return text;
}

async function packIdv() {
  const to = join(folder, "work/idv");
  await unpack(join(folder, pack(root)), to);
  write(join(to, "README.md"), readme());
  const optionalDependencies = Object.fromEntries(platforms.map((platform) => [`@idv/native-${platform}`, version]));
  write(
    join(to, "package.json"),
    JSON.stringify({ ...own, dependencies: { undici: own.dependencies.undici }, optionalDependencies }, undefined, 2),
  );
  return pack(to);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const names = [await packIdv(), ...platforms.map(packNative)];
rmSync(join(folder, "work"), { recursive: true });
for (const name of names) {
  const { length } = readFileSync(join(folder, name));
  process.stdout.write(`dist/packages/${name}: ${(length / 1e6).toFixed(2)} MB\n`);
}
