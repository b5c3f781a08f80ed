// Reads addresses written for a browser, a mail program or a spreadsheet: HTML with entities, line breaks as a
// backslash and an n, `=HYPERLINK()`. Remembers where each character came from.

import type { Kind } from "../../validator/validator.js";
import { decoded } from "./item.js";

export type Readable = { readonly text: string; readonly starts: readonly number[]; readonly ends: readonly number[] };

const mayBeMarkup = /&[#\w]{2,10};|<\/?[a-z]+[\s/>]|\\[nr]|=HYPERLINK\(/i;

const markupWith = (scheme: string): RegExp =>
  new RegExp(
    [
      // 1: the item of a link.
      String.raw`<a\s[^<>]*?href\s*=\s*["']?${scheme}([^"'<>\s]*)["']?[^<>]*>[^<]*(?:<(?!\/a)[^<]*){0,20}<\/a\s*>`,
      String.raw`^=HYPERLINK\(\s*"${scheme}(?:"\s*&\s*")?([^"]*)"[^()]*\)$`,
      // 3: tags that start a new line; 4: other tags.
      String.raw`(<\/?(?:br|p|div|li|ul|ol|tr|td|th|hr|h[1-6])(?:\s[^<>]*)?\/?>)`,
      String.raw`(<\/?(?:a|abbr|b|body|em|font|html|i|nobr|small|span|strong|table|tbody|u|wbr)(?:\s[^<>]*)?\/?>)`,
      // 5: an entity; 6: a line break as two characters, after an address.
      String.raw`&(?:amp;)*(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});`,
      String.raw`(?<=@[^\s@\\]{1,255})((?:\\[nr])+)`,
    ].join("|"),
    "gi",
  );

const markup: Readonly<Record<Kind, RegExp>> = { email: markupWith("mailto:"), domain: markupWith("(?:mailto:)?") };

const entities: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", shy: "\u00ad", commat: "@" },
  ...{ period: ".", comma: ",", semi: ";", colon: ":", lowbar: "_", plus: "+", hyphen: "-", sol: "/" },
  ...{ ldquo: "\u201c", rdquo: "\u201d", bdquo: "\u201e", lsquo: "\u2018", rsquo: "\u2019", sbquo: "\u201a" },
  ...{ laquo: "\u00ab", raquo: "\u00bb", lsaquo: "\u2039", rsaquo: "\u203a", ndash: "\u2013", mdash: "\u2014" },
  ...{ ensp: " ", emsp: " ", thinsp: " ", zwj: "\u200d", zwnj: "\u200c", lrm: "\u200e", rlm: "\u200f" },
};

/** Returns the value as people see it; undefined for nearly all values, which are that already. */
export function readableOf(kind: Kind, value: string): Readable | undefined {
  if (!mayBeMarkup.test(value)) return undefined;
  let text = "";
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (part: string, start: number, end: number) => {
    for (let i = 0; i < part.length; i++) {
      starts.push(start);
      ends.push(end);
    }
    text += part;
  };
  let from = 0;
  const copyTo = (to: number) => {
    for (; from < to; from++) add(value[from]!, from, from + 1);
  };
  for (const found of value.matchAll(markup[kind])) {
    const { index } = found;
    const [source, link, formula, line, , entity, breaks] = found;
    const by =
      link !== undefined || formula !== undefined
        ? linkedAddress(link ?? formula!)
        : line !== undefined || breaks !== undefined
          ? "\n"
          : entity !== undefined
            ? characterOf(entity)
            : "";
    if (by === undefined) continue;
    copyTo(index);
    add(by, index, index + source.length);
    from = index + source.length;
  }
  copyTo(value.length);
  return text === value ? undefined : { text, starts, ends };
}

function linkedAddress(link: string): string {
  const [addresses = ""] = link.split("?");
  return addresses
    .split(",")
    .map((address) => `<${decoded(address)}>\n`)
    .join("");
}

function characterOf(entity: string): string | undefined {
  if (!entity.startsWith("#")) return entities[entity.toLowerCase()];
  const code = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
