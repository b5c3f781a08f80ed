/** Refuses files that are not tables, by their first bytes, and advises how to convert them. */
import { parseObject } from "../core/table/json/json-values.js";
import { ChoiceError } from "../files/errors.js";
import { pathWord, shellWord } from "../text.js";

/** Files that hold another file, and the commands that unpack them. Bytes are characters up to U+00FF. */
const wrappings = [
  { start: /^\xfd7zXZ\0/, what: "an xz file", command: "xz -dc" },
  { start: /^BZh[1-9](?:1AY&SY|\x17rE8P\x90)/, what: "a bzip2 file", command: "bzip2 -dc" },
  { start: /^(?:\x04"M\x18|\x02!L\x18)/, what: "an lz4 file", command: "lz4 -dc" },
  { start: /^LZIP\x01/, what: "an lzip file", command: "lzip -dc" },
  { start: /^7z\xbc\xaf'\x1c/, what: "a 7z archive", command: "7z x -so" },
  { start: /^Rar!\x1a\x07/, what: "a rar archive", command: "unrar p -inul" },
  { start: /^[^\0][\s\S]{256}ustar/, what: "a tar archive", command: "tar -xOf" },
  { start: /^\x1f\x9d/, what: "a compress file (.Z)", command: "gzip -dc" },
  // One layer of compression has already been removed.
  { start: /^\x1f\x8b\x08/, what: "a gzip file in a compressed file", command: "gzip -dc FILE | gzip -dc" },
  { start: /^\x28\xb5\x2f\xfd/, what: "a zstd file in a compressed file", command: "zstd -dc FILE | zstd -dc" },
  { start: /^-----BEGIN PGP MESSAGE-----/, what: "a PGP message", command: "gpg -d" },
  // A session key for a public key (version 3) or a password (version 4): RFC 4880 section 4.2, 5.1 and 5.3.
  { start: /^(?:[\x84\xc1].\x03|\x85.{2}\x03|[\x8c\xc3].\x04)/s, what: "a PGP message", command: "gpg -d" },
];

const asCsv = "export it as CSV";
const grepAddresses =
  `make a list of its addresses: grep -Ei '^(from|to|cc|reply-to):' FILE | ` +
  `grep -Eo '[^ <>()",;:]+@[^ <>()",;:]+' | idv emails`;

const formats: readonly {
  readonly start: RegExp;
  readonly what: string;
  readonly advice: string;
  readonly isIt?: (text: string) => boolean;
}[] = [
  { start: /^PK\x05\x06/, what: "a zip archive without tables", advice: "check the file" },
  { start: /^PK\x03\x04/, what: "a zip archive or a spreadsheet file", advice: asCsv },
  {
    // The name of the part EncryptedPackage, in UTF-16.
    start: /^\xd0\xcf\x11\xe0[\s\S]*E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0/,
    what: "a workbook with a password",
    advice: "save it without one",
  },
  { start: /^\xd0\xcf\x11\xe0/, what: "an Excel 97-2003 workbook (.xls)", advice: `${asCsv} or .xlsx` },
  {
    start: /^(?:\x89PNG|\xff\xd8\xff|GIF8[79]a|BM[\s\S]{4}\0\0\0\0|RIFF[\s\S]{4}WEBP|II\*\0|MM\0\*)/,
    what: "a picture",
    advice: "export the list that it shows as CSV",
  },
  { start: /^PAR1/, what: "a Parquet file", advice: asCsv },
  { start: /^%PDF-/, what: "a PDF document", advice: asCsv },
  { start: /^\{\\rtf/, what: "an RTF document", advice: asCsv },
  { start: /^SQLite format 3\0/, what: "an SQLite database", advice: asCsv },
  { start: /^\s*BEGIN:VCALENDAR/i, what: "a calendar (iCalendar)", advice: asCsv },
  {
    start: /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|body|table|meta)\b/i,
    what: "an HTML page, even if its name ends in .xls",
    advice: "open it in a spreadsheet program and save it as CSV",
  },
  { start: /^\s*<\?xml/, what: "an XML document", advice: asCsv },
  {
    start: /^(?:--.*\r?\n|\/\*[\s\S]*?\*\/;?|\s)*(?:INSERT INTO|CREATE TABLE|DROP TABLE|BEGIN;|PRAGMA )/i,
    what: "an SQL dump",
    advice: "export the table as CSV",
  },
  { start: /^From \S+@\S+ .*\r?\n[A-Z][\w-]*: /, what: "a mailbox (mbox)", advice: grepAddresses },
  {
    start:
      /^(?=(?:.+\r?\n)*?(?:(?:Return-Path|Received|Delivered-To|Message-ID|MIME-Version):|(?:From|To): .*@))(?:Return-Path|Received|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version): .*\r?\n(?:[ \t].*\r?\n)*[A-Z][\w-]*: /i,
    what: "an e-mail message",
    advice: grepAddresses,
  },
  {
    start:
      /^(?:\/\/.*|\/\*[\s\S]*?\*\/|\s)*(?:export\s+default|(?:var|let|const)\s+[\w$]+\s*=|(?:module\.exports|window\.\w+)\s*=)\s*[[{(]/,
    what: "JavaScript",
    advice: "save its data as JSON",
  },
  {
    start: /^\s*\{"[^\r\n]*\},[ \t]*\r?\n\s*\{"/,
    // A document whose list begins in its first line is none.
    isIt: (text: string) => parseObject(/^.*\}(?=,)/m.exec(text.trimStart())?.[0] ?? "") !== undefined,
    what: "JSON objects with commas between them but no brackets around them",
    advice: "put [ before the first object and ] after the last",
  },
  { start: /^(?:---[ \t]*\r?\n|- \w+: |\w+:[ \t]*\r?\n\s*- \w+: )/, what: "a YAML document", advice: asCsv },
];

function unwrapping(command: string, name: string, wanted: string): string {
  const file = fileNamed(name);
  const unpack = command.includes("FILE") ? command.replace("FILE", () => file) : `${command} ${file}`;
  return `${unpack} | idv ${wanted}`;
}

const fileNamed = (name: string): string => (name === "standard input" ? "FILE" : shellWord(pathWord(name)));

/** `start` includes the byte order mark. @throws ChoiceError if the file has another format, or is not text */
export function refuseForeignFormat(name: string, start: Buffer, wanted: "emails" | "domains"): void {
  const refuse = (what: string, advice: string, page?: string) => {
    throw new ChoiceError(`${name}: ${what}`, { code: "format", advice, page: page ?? advice });
  };
  const isUtf32 = /^(?:\xff\xfe\0\0|\0\0\xfe\xff|[^\0]\0\0\0[^\0]\0\0\0|\0\0\0[^\0]\0\0\0[^\0])/;
  const text = start.toString("latin1");
  const wrapping = wrappings.find(({ start }) => start.test(text));
  if (wrapping) refuse(wrapping.what, `unpack it: ${unwrapping(wrapping.command, name, wanted)}`, "unpack it");
  if (isUtf32.test(text)) refuse("UTF-32 text, which is not read", "convert it: iconv -f UTF-32 -t UTF-8");
  const own = text.replace(/^\xef\xbb\xbf/, "");
  const format = formats.find(({ start, isIt }) => start.test(own) && (isIt?.(own) ?? true));
  if (format)
    refuse(
      format.what,
      format.advice.replace("FILE", () => fileNamed(name)),
      format.advice,
    );
  if (/^(?:\xff\xfe|\xfe\xff)/.test(text)) refuse("UTF-16 text", "leave out --encoding", "save it as UTF-8");
  const encoding = likelyUtf16(start);
  if (encoding !== undefined) {
    refuse(
      "not text: mostly NUL bytes",
      `if it is UTF-16 without a byte order mark, pass --encoding ${encoding}`,
      "if it is UTF-16, save it as UTF-8",
    );
  }
  const controls = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0;
  if (controls > Math.max(30, start.length / 20)) refuse("not text: many control characters", asCsv);
}

/**
 * Undefined unless more than a quarter is NUL bytes, which UTF-16 has at even or at odd positions. In a short text, a field may
 * contain some.
 */
function likelyUtf16(bytes: Buffer): "utf-16be" | "utf-16le" | undefined {
  if (!bytes.includes(0)) return undefined;
  const nuls = [0, 0] as [number, number];
  for (const [i, byte] of bytes.entries()) if (byte === 0) nuls[i & 1 ? 1 : 0]++;
  const [even, odd] = nuls;
  const most = Math.max(even, odd);
  const least = Math.min(even, odd);
  const isMany =
    bytes.length >= 1024 ? least + most > bytes.length / 4 : most > 4 && most > bytes.length / 4 && least < most / 4;
  if (!isMany) return undefined;
  return even > odd ? "utf-16be" : "utf-16le";
}
