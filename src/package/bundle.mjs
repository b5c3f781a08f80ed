// Bundles the program into dist/bundle, the modules of a command in a few files: to open some 150 files takes a quarter of
// the time of a small run. The library is bundled into dist/library. Packages that are large and seldom needed stay outside,
// and so does everything with native code. Run by `npm run build`, after the compiler.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build, watch } from "rolldown";
import { dts } from "rolldown-plugin-dts";

const require = createRequire(import.meta.url);

const outside = ["undici", "@photostructure/sqlite", "@cloudpss/zstd"];

/** Writes what is beyond ASCII as escapes: Node.js needs no UTF-8 decoder then, and V8 a byte a character. */
const ascii = {
  name: "ascii",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
      chunk.code = chunk.code.replaceAll(/[^\0-\x7f]/g, escaped);
    }
  },
};

/** Copies files next to the bundle, where its modules look for them. */
const copied = {
  name: "copied-files",
  generateBundle() {
    const emit = (fileName, from) => this.emitFile({ type: "asset", fileName, source: readFileSync(from) });
    // The modules in this folder are of another kind than those of the package.
    this.emitFile({ type: "asset", fileName: "package.json", source: '{ "type": "commonjs" }\n' });
    emit("browser/dashboard.js", "dist/server/dashboard/browser/dashboard.js");
  },
};

/** Lets commander load `child_process` when a command is a program of its own, of which idv has none: it takes 3 ms. */
const laterChildProcess = {
  name: "later-child-process",
  transform: {
    filter: { id: /commander.lib.command\.js$/ },
    handler(code) {
      const loading = "const childProcess = require('node:child_process');";
      if (!code.includes(loading)) throw new Error("commander loads child_process in another way now");
      return code.replace(loading, "").replaceAll("childProcess.", "require('node:child_process').");
    },
  },
};

/** Makes a module of the list of words: a bundle would define a property for each of its 1,600 words at every start. */
const roleWords = {
  name: "role-words",
  load: {
    filter: { id: /role-based-email-addresses.src.index\.js$/ },
    handler: (id) => `export default ${JSON.stringify([...require(id)])};`,
  },
};

/** Writes the licences of the bundled packages, as they ask for. */
const licences = {
  name: "licences",
  generateBundle(_, bundle) {
    const folders = Object.values(bundle)
      .flatMap((chunk) => chunk.moduleIds ?? [])
      .flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []);
    const texts = [...new Set(folders)].sort().map((folder) => {
      const { name, version, license, author } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
      if (license === undefined) throw new Error(`${name} has no licence`);
      const file = readdirSync(folder).find((name) => /^(?:licen[cs]e|copying)/i.test(name));
      const by = typeof author === "string" ? author : (author?.name ?? "its authors");
      const text = file === undefined ? `By ${by}` : readFileSync(`${folder}/${file}`, "utf8").trim();
      return `${name} ${version} (${license})\n\n${text}\n`;
    });
    this.emitFile({ type: "asset", fileName: "LICENCES.txt", source: texts.join(`\n${"-".repeat(72)}\n\n`) });
  },
};

const source = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const inBrowser = (name) => source(`web/browser/node/${name}.ts`);

/** Puts modules of src/web/browser/node in the place of Node's, and of ours that need them. */
const browserModules = {
  name: "browser-modules",
  async resolveId(id, importer) {
    const found = await this.resolve(id, importer, { skipSelf: true });
    const ours = [
      "package/own-files",
      "package/threads",
      "formats/compression/compression",
      "formats/zip/deflate",
    ].find((name) => found?.id === source(`${name}.ts`));
    return ours === undefined ? found : inBrowser(ours.slice(ours.lastIndexOf("/") + 1));
  },
};

/** Leaves out what only the help shows of the rules. */
const withoutExamples = {
  name: "without-examples",
  transform: {
    filter: { id: /classifier.rules.(?:\w+.)?[\w-]+\.ts$/ },
    handler: (code) => code.replaceAll(/^ +example:\s*"(?:[^"\\]|\\.)*",$/gm, ""),
  },
};

/** What all bundles for browsers share. */
const browser = {
  platform: "browser",
  resolve: {
    extensionAlias: { ".js": [".ts", ".tsx", ".js"] },
    alias: {
      "node:buffer": inBrowser("buffer"),
      "node:crypto": inBrowser("crypto"),
      "node:path": inBrowser("path"),
      "node:timers/promises": inBrowser("timers"),
      "node:url": inBrowser("url"),
    },
  },
  transform: { inject: { Buffer: [inBrowser("buffer"), "Buffer"] } },
  plugins: [browserModules, withoutExamples],
};

/** Copies the tables and the kernel beside the library for browsers, where it looks for them. */
const tables = {
  name: "tables",
  generateBundle() {
    for (const path of [
      "classifier/disposable.bin",
      "classifier/small.bin",
      "classifier/suffixes.bin",
      "kernel/kernel.wasm",
    ]) {
      this.emitFile({
        type: "asset",
        fileName: path.slice(path.indexOf("/") + 1),
        source: readFileSync(`dist/${path}`),
      });
    }
  },
};

/** What the program and the library share. */
const shared = {
  platform: "node",
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  external: (id) => id.startsWith("node:") || outside.some((name) => id === name || id.startsWith(`${name}/`)),
};
/** The program, and its threads: apart, because a thread loads every module of its own anew. */
const program = {
  ...shared,
  output: {
    dir: "dist/bundle",
    // Node.js reads every byte of a module; names stay, for stack traces.
    comments: false,
    // Node.js starts CommonJS 10 ms sooner than ECMAScript modules, for which it loads a loader and much of itself.
    format: "cjs",
    // V8 loses what Node.js needs for import() when it takes compiled code.
    dynamicImportInCjs: false,
    entryFileNames: "[name].js",
    // bin/idv.js keeps the compiled code of what has a hash.
    chunkFileNames: "[name]-[hash].js",
  },
};
const bundles = [
  { ...shared, input: { index: "src/index.ts" }, output: { dir: "dist/library", comments: false } },
  {
    ...browser,
    input: { index: "src/web/browser/index.ts", small: "src/web/browser/small.ts" },
    preserveEntrySignatures: "allow-extension",
    plugins: [...browser.plugins, roleWords, tables, licences],
    output: {
      dir: "dist/browser",
      minify: true,
      chunkFileNames: "[name]-[hash].js",
      // Bundlers leave out a file of which nothing is used.
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          { name: "flags", test: /src.core.classifier.flags.(?:flags|mail-services)\.ts$|role-based-email-addresses/ },
          { name: "validate-table", test: /src.web.browser.validate-table\.ts$/ },
        ],
      },
    },
  },
  ...["page.tsx", "worker.ts"].map((file) => ({
    ...browser,
    input: `src/web/list-page/${file}`,
    // The page has no address from which it could load anything.
    transform: { ...browser.transform, define: { "import.meta.url": '"file:///"' } },
    output: {
      file: `dist/page-parts/${file.replace(/\..*/, ".js")}`,
      format: "iife",
      minify: true,
      codeSplitting: false,
    },
  })),
  {
    ...program,
    input: { main: "src/cli/main.ts", action: "src/package/action/action.ts" },
    plugins: [copied, laterChildProcess, roleWords, ascii, licences],
    output: {
      ...program.output,
      // What every start needs, what gives verdicts, and what an offline run needs besides, each in one file: to find and to
      // link 40 files takes a tenth of the time of a small run. A group takes the modules that its own import, too.
      codeSplitting: {
        groups: [
          // The only part that `idv --version` needs.
          { name: "version", test: /src.cli.version\.ts$/, priority: 5 },
          {
            name: "start",
            test: /src.cli.(?:errors|program|run-program|terminal.terminal|terminal.standard-output)\.ts$/,
            priority: 3,
          },
          { name: "classifier", test: /src.core.classifier.(?:classifier|canonical)\.ts$/, priority: 2 },
          { name: "run", test: /src.(?:cli.bulk.run-bulk|cli.commands.(?:emails|domains))\.ts$/, priority: 1 },
        ],
      },
    },
  },
  {
    ...program,
    input: { worker: "src/core/run/blocks/threads/worker.ts" },
    plugins: [ascii],
    output: { ...program.output, codeSplitting: { groups: [{ name: "thread", test: /(?<!worker)\.ts$/ }] } },
  },
];
/** The types of an entry of the package in one file; of those that the compiler writes, most are of internal modules. */
const typesOf = (name, path) => ({
  input: { [name]: `dist/${path}.d.ts` },
  external: /^(?:node:|undici$)/,
  plugins: [
    dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false }),
    // Names of the files that these were in.
    { name: "without-paths", renderChunk: (code) => code.replaceAll(/^\/\/.*\n/gm, "") },
  ],
  output: { dir: "dist/types" },
});
const types = [
  typesOf("index", "index"),
  typesOf("browser", "web/browser/index"),
  typesOf("small", "web/browser/small"),
];

// Not the program of rolldown, which lists every file; and no word about plugins on a slow machine.
const all = [...bundles, ...types].map((bundle) => ({ ...bundle, checks: { pluginTimings: false } }));
if (process.argv.includes("--watch")) watch(all.slice(0, bundles.length));
else await build(all);
