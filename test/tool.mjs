// node test/tool.mjs NAME ARGUMENTS...
//
// Runs a tool of the tests and checks in the folder of the project. They are packages of test/package.json, so that building idv
// needs none of them, and are installed here when they are missing or others are locked.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const modules = join(folder, "node_modules");

/** Runs a program in a folder. Ends this one where it fails. */
function run(program, args, cwd, shell = false) {
  const { status, error } = spawnSync(program, args, { cwd, shell, stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Returns when a file was written, in milliseconds; 0 for none. */
const writtenAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const [name = "", ...args] = process.argv.slice(2);
if (writtenAt(join(modules, ".package-lock.json")) < writtenAt(join(folder, "package-lock.json"))) {
  // npm is a script of the shell on Windows.
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], folder, process.platform === "win32");
}
const packages = { attw: "@arethetypeswrong/cli", biome: "@biomejs/biome", stryker: "@stryker-mutator/core" };
const tool = join(modules, packages[name] ?? name);
const { bin } = JSON.parse(readFileSync(join(tool, "package.json"), "utf8"));
run(process.execPath, [join(tool, typeof bin === "string" ? bin : bin[name]), ...args], dirname(folder));
