/** Style and script of the pages. Their names hold a hash of their content, so that browsers may keep them for good. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { style as reportStyle } from "../report/style.js";
import { style } from "./style.js";

/** A file for browsers. */
interface Asset {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function asset(name: string, extension: string, type: string, text: string): Asset {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `/dashboard/assets/${name}-${hash}.${extension}`, type, text };
}

/** The module compiled from browser/dashboard.ts, which is beside this file or the bundle. */
const script = readFileSync(new URL("browser/dashboard.js", import.meta.url), "utf8");

export const assets = {
  style: asset("style", "css", "text/css; charset=utf-8", reportStyle + style),
  script: asset("dashboard", "js", "text/javascript; charset=utf-8", script),
};
