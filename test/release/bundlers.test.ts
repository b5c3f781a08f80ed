/**
 * Covers the library for browsers with the bundlers that people have, and with none: each builds a page that classifies an address
 * and validates a table, which Chromium opens. Fetches the bundlers from npm, some 100 MB, into node_modules/.cache.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBrowser, wantedBrowser } from "../support/browser.js";
import { serveFiles } from "../support/static-server.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "node_modules/.cache/idv-bundlers/");
const packages = ["webpack@5", "vite@8", "esbuild@0.28", "rollup@4", "@rollup/plugin-node-resolve@16"];
const installed = join(folder, "node_modules/idv/dist/browser");
const load = createRequire(folder);

/** Fills a folder with the script `app.js` and what it loads. */
const bundlers: Readonly<Record<string, (out: string) => unknown>> = {
  webpack: (path) =>
    promisify(load("webpack"))({
      mode: "production",
      performance: { hints: false },
      context: folder,
      entry: "./app.js",
      output: { path, filename: "app.js", publicPath: "/" },
    }),
  vite: async (outDir) => {
    const { build } = await import(load.resolve("vite"));
    const output = { entryFileNames: "app.js" };
    await build({
      root: folder,
      logLevel: "error",
      build: { outDir, target: "esnext", rolldownOptions: { input: join(folder, "app.js"), output } },
    });
  },
  // These two copy no files: the page names the folder that has them.
  esbuild: (outdir) =>
    load("esbuild").build({
      absWorkingDir: folder,
      entryPoints: ["app.js"],
      bundle: true,
      format: "esm",
      splitting: true,
      logLevel: "error",
      outdir,
    }),
  rollup: async (dir) => {
    const { rollup } = load("rollup");
    const bundle = await rollup({
      input: join(folder, "app.js"),
      plugins: [load("@rollup/plugin-node-resolve").default()],
    });
    await bundle.write({ dir, format: "es" });
  },
  // With the tables in the bundle, for servers at the edge, which fetch nothing.
  "esbuild, all in one file": (outdir) =>
    load("esbuild").build({
      absWorkingDir: folder,
      entryPoints: { app: "whole.js" },
      bundle: true,
      format: "esm",
      loader: { ".bin": "binary", ".wasm": "binary" },
      logLevel: "error",
      outdir,
    }),
  none: (out) => {
    cpSync(installed, join(out, "idv"), { recursive: true });
    writeFileSync(join(out, "app.js"), app("/idv/index.js", ""));
  },
};

const app = (library: string, tables: string) => `
import { classifyEmail, loadTables, validateTable } from "${library}";
await loadTables(${tables});
const { status } = classifyEmail("grace.lee@gmial.com");
const { stream } = await validateTable(new Blob(["email\\na@mailinator.com\\n"]));
window.result = [status, await new Response(stream).text()];
`;
const whole = `
import disposable from "idv/browser/disposable.bin";
import kernel from "idv/browser/kernel.wasm";
import suffixes from "idv/browser/suffixes.bin";
${app("idv/browser", "{ disposable, suffixes, kernel }")}
`;

/** The form of `idv help recipes`. */
const form = /```js\n(.*?)```/s.exec(readFileSync(join(root, "src/cli/help/topics/recipes.md"), "utf8"))![1]!;

let browser: Browser;
beforeAll(async () => {
  execFileSync(process.execPath, [join(root, "src/package/release/build-packages.mjs")]);
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, "node_modules/idv"), { recursive: true, force: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const { version } = load(join(root, "package.json"));
  const tarball = join(root, `dist/packages/idv-${version}.tgz`);
  const options = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--silent"];
  execFileSync("npm", ["install", ...options, ...packages, tarball], { cwd: folder });
  if (wantedBrowser() !== undefined) browser = await startBrowser();
});
afterAll(() => browser?.close());

test.skipIf(wantedBrowser() === undefined).each(Object.keys(bundlers))(
  "a page validates tables, with the bundler: %s",
  async (name) => {
    const out = join(folder, "out", name.replaceAll(/\W+/g, "-"));
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const copiesFiles = name === "webpack" || name === "vite";
    writeFileSync(join(folder, "app.js"), app("idv/browser", copiesFiles ? "" : '"/tables/"'));
    writeFileSync(join(folder, "whole.js"), whole);
    await bundlers[name]!(out);
    if (!copiesFiles && name !== "none") {
      for (const file of ["disposable.bin", "suffixes.bin", "kernel.wasm"]) {
        cpSync(join(installed, file), join(out, "tables", file));
      }
    }
    expect(existsSync(join(out, "app.js"))).toBe(true);
    const html = '<!doctype html><script type="module" src="/app.js"></script>';
    const { url, asked } = await serveFiles(out, { "/index.html": html });
    const page = await browser.newPage();
    const errors: unknown[] = [];
    page.on("pageerror", (error) => errors.push(error));
    await page.goto(url);
    await expect
      .poll(() => (errors.length > 0 ? errors : page.evaluate("window.result")))
      .toEqual(["fake", "email,status\na@mailinator.com,disposable\n"]);
    if (name.includes("all in one file")) expect(asked.filter((path) => /\.(?:bin|wasm)$/.test(path))).toEqual([]);
    await page.close();
  },
);

test.skipIf(wantedBrowser() === undefined)("the form of the recipes asks for another address", async () => {
  const html = '<!doctype html><form><input type="email"></form><script type="module" src="/form.js"></script>';
  const others = { "/index.html": html, "/form.js": form.replace("idv/browser/small", "/small.js") };
  const { url } = await serveFiles(installed, others);
  const page = await browser.newPage();
  await page.goto(url);
  const field = page.locator("input");
  const said = () => page.evaluate("document.querySelector('input').validationMessage");
  for (const [address, message] of [
    ["grace.lee@gmial.com", "Did you mean grace.lee@gmail.com?"],
    ["a@mailinator.com", "Please give another address."],
    ["ann@larch-and-oak.com", ""],
  ]) {
    await field.fill(address!);
    await field.blur();
    await expect.poll(said).toBe(message);
  }
  await page.close();
});
