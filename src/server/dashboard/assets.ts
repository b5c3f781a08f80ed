/** Style and script of the pages. Their names hold a hash of their content, so that browsers may cache them forever. */
import { createHash } from "node:crypto";
import { style } from "../../core/facts/render/pages-style.js";
import { style as reportStyle } from "../../core/facts/render/style.js";
import { readOwnFile } from "../../package/own-files.js";

function asset(name: string, extension: string, type: string, text: string) {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `/dashboard/assets/${name}-${hash}.${extension}`, type, text };
}

/** Beside both this file and the bundle. */
const script = Buffer.from(readOwnFile(new URL("browser/dashboard.js", import.meta.url))).toString();

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f5f8b"/><path d="M4 8.5l3 3 5.5-7" fill="none" stroke="#fff" stroke-width="2"/></svg>`;

export const assets = {
  icon: asset("icon", "svg", "image/svg+xml", icon),
  style: asset("style", "css", "text/css; charset=utf-8", reportStyle + style),
  script: asset("dashboard", "js", "text/javascript; charset=utf-8", script),
};
