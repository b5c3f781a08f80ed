// Bundles the program into dist/bundle, the modules of a command in a few files: to open some 150 files takes a quarter of
// the time of a small run. Packages that are large and seldom needed stay outside, and so does everything with native
// code. Run by `npm run build`, after the compiler.
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "rolldown";

const outside = ["@cloudpss/zstd", "@photostructure/sqlite", "fastify", "hucre", "prom-client", "undici"];

/** Copies files next to the bundle, where its modules look for them. */
const copied = {
  name: "copied-files",
  generateBundle() {
    const emit = (fileName, from) => this.emitFile({ type: "asset", fileName, source: readFileSync(from) });
    emit("disposable.bin", "dist/classifier/disposable.bin");
    for (const topic of readdirSync("src/cli/help/topics")) {
      emit(`topics/${topic}`, `src/cli/help/topics/${topic}`);
    }
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
      const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
      const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
      if (file === undefined) throw new Error(`${name} has no file with its licence`);
      return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
    });
    this.emitFile({ type: "asset", fileName: "LICENCES.txt", source: texts.join(`\n${"-".repeat(72)}\n\n`) });
  },
};

export default defineConfig({
  input: {
    main: "src/cli/main.ts",
    index: "src/index.ts",
    worker: "src/run/embedded/worker.ts",
  },
  platform: "node",
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  external: (id) =>
    id.startsWith("node:") || outside.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [copied, licences],
  output: {
    dir: "dist/bundle",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Node.js reads every byte of a module; names stay, for stack traces.
    comments: false,
    // What every start needs, what gives verdicts, and what an offline run needs besides, each in one file: to find and to
    // link 40 files takes a tenth of the time of a small run. A group takes the modules that its own import, too.
    codeSplitting: {
      groups: [
        {
          name: "start",
          test: /src.cli.(?:errors|program|terminal.terminal|terminal.standard-output)\.ts$/,
          priority: 3,
        },
        { name: "classifier", test: /src.classifier.(?:classifier|canonical)\.ts$/, priority: 2 },
        // Also for the workers, which need nothing else.
        {
          name: "blocks",
          test: /src.(?:run.embedded.block-classifier|table.scan.chunk-assembler)\.ts$/,
          priority: 2,
        },
        {
          name: "run",
          test: /src.(?:cli.bulk.run-bulk|cli.commands.(?:emails|domains)|run.embedded.embedded-run)\.ts$/,
          priority: 1,
        },
      ],
    },
  },
});
