/** Renders whole pages, in which no text can imitate another by invisible characters, and their security policies. */
import { createHash } from "node:crypto";
import type { VNode } from "preact";
import { render } from "preact-render-to-string";
import { style } from "./style.js";

const styleHash = createHash("sha256").update(style).digest("base64");

/** Content security policy of a report: a browser may only show it. */
export const reportPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;

/** As a field of HTTP, where a policy can also forbid frames. */
export const servedPolicy = (policy: string): string => `${policy}; frame-ancestors 'none'`;

/** Control characters and direction marks, which disguise names, become U+FFFD; CRLF, which forms send, becomes LF. */
export const renderHtml = (node: VNode): string =>
  render(node)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\n\t\P{Cc}]|\p{Bidi_Control}/gu, "\ufffd");

export const htmlPage = (page: VNode): string => `<!doctype html>\n${renderHtml(page)}\n`;
