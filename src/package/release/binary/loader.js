// Starts idv in a program of a single file, and its threads: finds the modules and other files of idv within the program. The
// path of such a file is one below that of the program, which no file on a disk has.

const { isBuiltin } = require("node:module");
const { dirname, join, relative, resolve, sep } = require("node:path");
const { getAsset } = require("node:sea");
const { fileURLToPath } = require("node:url");
const vm = require("node:vm");
const { isMainThread } = require("node:worker_threads");

const root = process.execPath;

/** Returns a file of idv; undefined if there is none at the path. */
function read(path) {
  try {
    return new Uint8Array(getAsset(relative(root, path).replaceAll(sep, "/")));
  } catch (error) {
    if (error.code === "ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND") return undefined;
    throw error;
  }
}

const modules = new Map();

function load(path) {
  const known = modules.get(path);
  if (known) return known.exports;
  const bytes = read(path);
  if (bytes === undefined) {
    throw Object.assign(new Error(`Cannot find module '${path}'`), { code: "MODULE_NOT_FOUND" });
  }
  const module = { exports: {} };
  modules.set(path, module);
  const source = Buffer.from(bytes.buffer).toString().replace(/^#!.*/, "");
  const parameters = ["exports", "require", "module", "__filename", "__dirname"];
  const run = vm.compileFunction(source, parameters, {
    filename: path,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run.call(module.exports, module.exports, requireFrom(path), module, path, dirname(path));
  return module.exports;
}

const requireFrom = (path) => (name) => {
  if (isBuiltin(name)) return require(name);
  return load(name.startsWith(".") ? resolve(dirname(path), name) : join(root, "packages", `${name}.js`));
};

globalThis[Symbol.for("idv.embedded")] = {
  read: (url) => read(fileURLToPath(url)),
  thread: getAsset("loader.js", "utf8"),
};
load(isMainThread ? join(root, "bin/idv.js") : fileURLToPath(process.argv.at(-1)));
