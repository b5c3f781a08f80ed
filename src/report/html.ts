/** Renders whole pages, so that no text in them can look like another one. */
import type { VNode } from "preact";
import { render } from "preact-render-to-string";

/**
 * Returns the document of a page. Control characters but tabs and line ends, which HTML does not allow, and direction marks,
 * which would let a name look like another one, become U+FFFD. Line ends are LF: forms send CRLF, which HTML reads as LF.
 */
export function htmlPage(page: VNode): string {
  const text = render(page)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\n\t\P{Cc}]|\p{Bidi_Control}/gu, "\ufffd");
  return `<!doctype html>\n${text}\n`;
}
