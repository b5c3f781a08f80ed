#!/usr/bin/env node
// Starts the program, and its threads: loads their modules from the disk or, in a program of a single file, from it, where the
// path of a file is one below that of the program. An error that idv does not catch exits with 70, not with 1 as --fail-on does.
//
// Later runs use the code that V8 has compiled, which saves a third of the time of a small run. Node.js 22 could do that by
// itself, but it stores only what is compiled when a module is loaded, and nothing of a program of a single file.
const fs = require("node:fs");
const { createRequire, isBuiltin } = require("node:module");
const { basename, dirname, isAbsolute, join, relative, resolve, sep } = require("node:path");
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

/** Whether a path is the user's, and nobody else can write there: they would decide what runs. */
const isOwn = ({ uid, mode }) => uid === process.getuid() && (mode & 0o022) === 0;

/**
 * Returns the user's folder for compiled code; undefined if there is none that is safe. With sudo, the home may be another user's.
 * A first run only makes the folder, since many homes in containers have no second one.
 */
function folderOfCode() {
  try {
    const { HOME, XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env;
    // Compiled code has no counters for coverage.
    if (NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE || !isAbsolute(HOME)) return undefined;
    const home = resolve(HOME);
    const named = resolve(XDG_CACHE_HOME || home);
    const parent = named.startsWith(home + sep) ? named : join(home, ".cache");
    const folder = join(parent, "idv");
    if (!isOwn(fs.statSync(home))) return undefined;
    if (fs.mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) return undefined;
    // A link to a folder is none.
    const isOwnFolder = (found) => found.isDirectory() && isOwn(found);
    return [parent, folder].every((path) => isOwnFolder(fs.lstatSync(path))) ? folder : undefined;
  } catch {
    return undefined;
  }
}

let codeFolder = folderOfCode();
const modules = new Map();
/** Modules with compiled code, by the path of that code; and whether one came without it. */
const scripts = new Map();
let isCodeMissing = false;

// node:crypto takes 3 ms, a sixth of `idv --version`, which needs no compiled code.
const checksum = (bytes) => require("node:crypto").createHash("sha256").update(bytes).digest();
const checksumBytes = 32;
/** Smaller modules are compiled as fast as code is read. */
const leastLength = 10_000;

/** Memory for one file at a time: to get other memory from the system for each takes longer than to read them. */
let space = Buffer.allocUnsafeSlow(1 << 20);

/** Returns the memory for a file of `size` bytes behind `before` others; what is read next overwrites it. */
function spaceFor(before, size) {
  const end = before + size;
  // Room for what follows a module.
  if (space.length < end + tail.length) space = Buffer.allocUnsafeSlow(2 * end);
  return space.subarray(before, end);
}

function readInto(file, before = 0) {
  const bytes = spaceFor(before, fs.fstatSync(file).size);
  let length = 0;
  while (length < bytes.length) {
    const count = fs.readSync(file, bytes, length, bytes.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

/** Returns undefined if there is none that is whole: V8 does not notice damage, and crashes. */
function readCode(path) {
  let file;
  try {
    file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    const found = fs.fstatSync(file);
    const bytes = found.isFile() && isOwn(found) ? readInto(file) : Buffer.alloc(0);
    const code = bytes.subarray(checksumBytes);
    return checksum(code).equals(bytes.subarray(0, checksumBytes)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** Only names with the hash of their bytes say for which source compiled code is. */
const hasHash = (path) => /-[\w-]{8}\.js$/.test(path);

/** What Node.js puts around a module. */
const head = "(function (exports, require, module, __filename, __dirname) {";
const tail = "\n})";

/** Code is stored for each command: with the code of another one, a small run takes a tenth longer. */
const command = /^[a-z]+$/.test(process.argv[2] ?? "") ? `.${process.argv[2]}` : "";

function compile(source, path) {
  const name = `${basename(path)}${command}.${process.version}-${process.arch}`;
  const isWorthCode = codeFolder !== undefined && hasHash(path) && source.length >= leastLength;
  const code = isWorthCode ? join(codeFolder, name) : undefined;
  const cachedData = code === undefined ? undefined : readCode(code);
  const script = new vm.Script(source, { filename: path, columnOffset: -head.length, cachedData });
  if (code !== undefined) {
    scripts.set(code, script);
    isCodeMissing ||= cachedData === undefined || script.cachedDataRejected;
  }
  return script.runInThisContext();
}

const codeName = /-[\w-]{8}\.js(?:\.[a-z]+)?\.v\d+\.\d+\.\d+-\w+(?:\.[\w-]+\.tmp)?$/;

/** Stores once what V8 has compiled by now, if a module came without it, and removes what is older than a month. */
function keepCode() {
  const folder = codeFolder;
  codeFolder = undefined;
  if (!isCodeMissing || folder === undefined) return;
  let temporary;
  try {
    // Users may have named the folder of other files, too.
    for (const name of fs.readdirSync(folder).filter((each) => codeName.test(each))) {
      const path = join(folder, name);
      if (Date.now() - fs.lstatSync(path).mtimeMs > 30 * 86_400_000) fs.rmSync(path, { recursive: true });
    }
    for (const [path, script] of scripts) {
      const code = script.createCachedData();
      temporary = `${path}.${require("node:crypto").randomUUID()}.tmp`;
      fs.writeFileSync(temporary, Buffer.concat([checksum(code), code]), { mode: 0o600, flag: "wx" });
      fs.renameSync(temporary, path);
    }
  } catch {
    // A full disk, or no right: the next run compiles again.
    if (temporary !== undefined) fs.rmSync(temporary, { force: true });
  }
}

/**
 * With Node.js 20, V8 optimises functions after three times as much work as it would: to optimise what runs only at the start
 * took a fifth of a run of 5 million rows. Node.js 22 waits by itself. V8 takes compiled code only with the flags with which
 * it was made, so a run that will store some goes on as it is: what it has compiled by its end serves small runs, too.
 */
function expectLongRun() {
  if (isCodeMissing) return;
  codeFolder = undefined;
  if (process.versions.v8?.startsWith("11.")) require("node:v8").setFlagsFromString("--interrupt-budget=400000");
}

/** Returns a module with its head and tail, which are read into one piece: V8 would copy what is joined. */
function sourceOf(path) {
  const embedded = readEmbedded(path);
  let file;
  try {
    file = embedded ? undefined : fs.openSync(path);
    const bytes = embedded ? spaceFor(head.length, embedded.length) : readInto(file, head.length);
    if (embedded) bytes.set(embedded);
    space.write(head, "latin1");
    space.write(tail, head.length + bytes.length, "latin1");
    // The bundles are in ASCII, which needs no decoder.
    return space.toString(hasHash(path) ? "latin1" : "utf8", 0, head.length + bytes.length + tail.length);
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

function load(path) {
  const known = modules.get(path);
  if (known) return known.exports;
  let source;
  try {
    source = sourceOf(path);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    throw Object.assign(new Error(`Cannot find module '${path}'`), { code: "MODULE_NOT_FOUND" });
  }
  const module = { exports: {} };
  modules.set(path, module);
  const run = compile(source, path);
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
