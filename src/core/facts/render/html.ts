/** Renders whole pages, in which no text can imitate another by invisible characters. */
import type { VNode } from "preact";
import { render } from "preact-render-to-string";

/** Control characters and direction marks, which disguise names, become U+FFFD; CRLF, which forms send, becomes LF. */
export const renderHtml = (node: VNode): string =>
  render(node)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\n\t\P{Cc}]|\p{Bidi_Control}/gu, "\ufffd");

export const htmlPage = (page: VNode): string => `<!doctype html>\n${renderHtml(page)}\n`;
