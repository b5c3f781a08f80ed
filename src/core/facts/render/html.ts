/** Renders whole pages, in which no text can imitate another by invisible characters. */
import type { VNode } from "preact";
import { render } from "preact-render-to-string";

/**
 * Renders HTML. Replaces control characters, which HTML does not allow, and direction marks, which would let a name look
 * like another one, by U+FFFD. Tabs and line ends stay. Line ends become LF: forms send CRLF, which HTML reads as LF.
 */
export const renderHtml = (node: VNode): string =>
  render(node)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\n\t\P{Cc}]|\p{Bidi_Control}/gu, "\ufffd");

/** Returns the HTML document of a page. */
export const htmlPage = (page: VNode): string => `<!doctype html>\n${renderHtml(page)}\n`;
