/**
 * Makes the page of one file, with script, worker, tables and kernel, since browsers load none of them beside a file on
 * the disk; and a service worker, so that it works without a network. Run by `npm run build`.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { style as dashboardStyle } from "../../core/facts/render/pages-style.js";
import { style as reportStyle } from "../../core/facts/render/style.js";
import { builtFile } from "../../package/own-files.js";
import { style as pageStyle } from "./style.js";

const folder = new URL("../../../dist/page/", import.meta.url);
const parts = new URL("../../../dist/page-parts/", import.meta.url);

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const base64 = (file: URL) => readFileSync(file).toString("base64");
/** A script ends at its first end tag. */
const script = (name: string) => readFileSync(new URL(name, parts), "utf8").trim().replaceAll("</script", "<\\/script");
const data = (id: string, text: string) => `<script type="text/plain" id="${id}">${text}</script>`;

const page = script("page.js");
const style = `${reportStyle}${dashboardStyle}${pageStyle}`;
/** Nothing may be sent. The worker is made of text in the page, and the kernel is WebAssembly. */
const policy = [
  `default-src 'none'; script-src ${hash(page)} 'wasm-unsafe-eval'; style-src ${hash(style)}`,
  "worker-src blob: 'self'; img-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'",
].join("; ");

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Check a list of e-mail addresses</title>
<style>${style}</style>
</head>
<body>
<noscript>This page checks lists with a script: allow it to run. It sends nothing.</noscript>
${data("worker", script("worker.js"))}
${data("disposable", base64(builtFile("classifier/disposable.bin")))}
${data("suffixes", base64(builtFile("classifier/suffixes.bin")))}
${data("kernel", base64(builtFile("kernel/kernel.wasm")))}
<script>${page}</script>
</body>
</html>
`;

const version = createHash("sha256").update(html).digest("hex").slice(0, 16);
/** Answers with the page that it has stored, and stores another one when its own text has changed. */
const serviceWorker = `const name = "idv-page-${version}";
const page = new URL("./", location).href;
addEventListener("install", (event) => event.waitUntil(caches.open(name).then((cache) => cache.add(page)).then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(caches.keys().then((names) => Promise.all(
  names.filter((each) => each.startsWith("idv-page-") && each !== name).map((each) => caches.delete(each))))));
addEventListener("fetch", (event) => {
  const { url, method, mode } = event.request;
  if (method !== "GET" || mode !== "navigate" || url.split(/[?#]/)[0].replace(/index\\.html$/, "") !== page) return;
  event.respondWith(caches.match(page).then((stored) => stored ?? fetch(event.request)));
});
`;

mkdirSync(folder, { recursive: true });
writeFileSync(new URL("index.html", folder), html);
writeFileSync(new URL("service-worker.js", folder), serviceWorker);
