/**
 * Unpacks Chromium from its npm package before the tests of the program, once, so that two workers do not do it at the
 * same time. Says so if there is no browser for the tests of pages; with CI set, that is an error.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browserFolder, packagedBrowser, wantedBrowser } from "./browser.js";

export async function setup(): Promise<void> {
  if (process.env["IDV_TEST_BROWSER"] === undefined && process.platform === "linux" && process.arch === "x64") {
    await unpack();
  }
  if (wantedBrowser() !== undefined) return;
  const message = "no browser for the tests of pages: set IDV_TEST_BROWSER to the path of Chromium or Chrome";
  if (process.env["CI"]) throw new Error(message);
  process.stderr.write(`\nSKIPPED: ${message}\n\n`);
}

async function unpack(): Promise<void> {
  if (existsSync(packagedBrowser)) return;
  mkdirSync(browserFolder, { recursive: true, mode: 0o700 });
  const before = { ...process.env };
  // It unpacks to the folder for temporary files, and its libraries only where it takes the machine for AWS Lambda.
  Object.assign(process.env, { TMPDIR: browserFolder, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" });
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    await chromium.executablePath();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
  const fonts = join(browserFolder, "fonts");
  writeFileSync(
    join(fonts, "fonts.conf"),
    `<fontconfig><dir>${fonts}</dir><cachedir>${join(browserFolder, "font-cache")}</cachedir></fontconfig>`,
  );
}
