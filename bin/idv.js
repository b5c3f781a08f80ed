#!/usr/bin/env node
// Starts the program, and its threads: loads their modules from the disk or, in a program of a single file, from it, where the
// path of a file is one below that of the program. What ends Node.js outside of idv is a fault (70), no match of --fail-on (1).
//
// Code that V8 has compiled is used again by later runs, which saves a quarter of the time of a small one. Node.js 22 could do that
// itself, but keeps only what a module compiles at first, and nothing of a program of a single file.
const fs = require("node:fs");
const { createRequire, isBuiltin } = require("node:module");
const { basename, dirname, join, relative, resolve, sep } = require("node:path");
const { fileURLToPath } = require("node:url");
const vm = require("node:vm");

const sea = isBuiltin("node:sea") && require("node:sea").isSea() ? require("node:sea") : undefined;
const root = sea ? process.execPath : join(__dirname, "..");

/** Returns a file of a program of a single file; undefined if there is none at the path. */
function readEmbedded(path) {
  try {
    return sea && new Uint8Array(sea.getAsset(relative(root, path).replaceAll(sep, "/")));
  } catch (error) {
    if (error.code === "ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Returns the user's folder for compiled code. Whoever can write there decides what runs, so it is the user's alone: with sudo, the home may be another's. */
function folderOfCode() {
  try {
    const { HOME, XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE } = process.env;
    if (NODE_DISABLE_COMPILE_CACHE) return undefined;
    const parent = XDG_CACHE_HOME?.startsWith(`${HOME}/`) ? XDG_CACHE_HOME : join(HOME, ".cache");
    const isOwn = (path) => {
      const { uid, mode } = fs.lstatSync(path);
      return uid === process.getuid() && (mode & 0o022) === 0 && (mode & 0o40000) !== 0;
    };
    const folder = join(parent, "idv");
    if (!isOwn(fs.realpathSync(HOME))) return undefined;
    // A first run only makes the folder: most homes of a container have one run.
    if (fs.mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) return undefined;
    return isOwn(parent) && isOwn(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

let codeFolder = folderOfCode();
const codeOf = (path) => join(codeFolder, `${basename(path)}.${process.version}-${process.arch}`);
const modules = new Map();
const scripts = new Map();
let isCodeMissing = false;

/** Compiles a module. The name of one that is worth its compiled code has the hash of its bytes. */
function compile(source, path) {
  const hasCode = codeFolder !== undefined && /-[\w-]{8}\.js$/.test(path);
  let cachedData;
  try {
    cachedData = hasCode ? fs.readFileSync(codeOf(path)) : undefined;
  } catch {
    // There is none.
  }
  const head = "(function (exports, require, module, __filename, __dirname) {";
  const script = new vm.Script(`${head}${source}\n})`, { filename: path, columnOffset: -head.length, cachedData });
  if (hasCode) {
    scripts.set(codeOf(path), script);
    isCodeMissing ||= cachedData === undefined || script.cachedDataRejected;
  }
  return script.runInThisContext();
}

/** Stores once what V8 has compiled by now, if a module came without it, and removes what is old. */
function keepCode() {
  const folder = codeFolder;
  codeFolder = undefined;
  if (!isCodeMissing || folder === undefined) return;
  try {
    for (const name of fs.readdirSync(folder)) {
      const path = join(folder, name);
      if (Date.now() - fs.statSync(path).mtimeMs > 30 * 86_400_000) fs.rmSync(path, { recursive: true });
    }
    for (const [path, script] of scripts) {
      const temporary = `${path}.${process.pid}.tmp`;
      fs.writeFileSync(temporary, script.createCachedData(), { mode: 0o600, flag: "wx" });
      fs.renameSync(temporary, path);
    }
  } catch {
    // A full disk, or no right: the next run compiles again.
  }
}

/**
 * With Node.js 20, V8 optimises functions after three times as much work as it would: many run only for a while, and to
 * optimise them took a fifth of a run of 5 million rows. Node.js 22 waits by itself. V8 takes compiled code only with the
 * flags with which it was made, so that is stored before.
 */
function expectLongRun() {
  keepCode();
  if (process.versions.v8?.startsWith("11.")) require("node:v8").setFlagsFromString("--interrupt-budget=400000");
}

function load(path) {
  const known = modules.get(path);
  if (known) return known.exports;
  let bytes;
  try {
    bytes = readEmbedded(path) ?? fs.readFileSync(path);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    throw Object.assign(new Error(`Cannot find module '${path}'`), { code: "MODULE_NOT_FOUND" });
  }
  const module = { exports: {} };
  modules.set(path, module);
  const run = compile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"), path);
  run.call(module.exports, module.exports, requireFrom(path), module, path, dirname(path));
  return module.exports;
}

function requireFrom(path) {
  let requireOutside = (name) => {
    requireOutside = sea ? (name) => load(join(root, "packages", `${name}.js`)) : createRequire(path);
    return requireOutside(name);
  };
  return (name) => {
    if (isBuiltin(name)) return require(name);
    return name.startsWith(".") ? load(resolve(dirname(path), name)) : requireOutside(name);
  };
}

globalThis[Symbol.for("idv.loader")] = {
  read: sea && ((url) => readEmbedded(fileURLToPath(url))),
  thread: sea ? sea.getAsset("bin/idv.js", "utf8") : `require(${JSON.stringify(__filename)})`,
  keepCode,
  expectLongRun,
};

if (require.main === module) {
  process.on("uncaughtException", (error) => {
    process.stderr.write(`idv: a bug in idv; please report it with the lines that follow\n${error.stack}\n`);
    process.exit(70);
  });
  process.on("exit", keepCode);
  start().catch((error) => {
    const isIncomplete = error.code === "MODULE_NOT_FOUND";
    const what = isIncomplete ? "a part of it is missing; run npm ci in its folder" : error.message;
    process.stderr.write(`idv: cannot be started: ${what}\n`);
    process.exitCode = 70;
  });
} else {
  load(fileURLToPath(process.argv.at(-1)));
}

async function start() {
  await load(join(root, "dist/bundle/main.js")).main(process.argv);
}
