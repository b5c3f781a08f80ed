/** Covers how the bytes of an item become text. test/files/encodings.test.ts has whole files. */
import { expect, test } from "vitest";
import { itemText } from "../../src/core/table/bytes.js";

test.each([
  ["UTF-8", "j\xc3\xbcrg@x.org", "jürg@x.org"],
  ["windows-1252", "j\xfcrg@m\xfcller.de", "jürg@müller.de"],
  ["Finnish, with letters side by side", "a@h\xe4\xe4y\xf6.fi", "a@hääyö.fi"],
  ["a sign in the local part", "a\xb0@x.org", "ax@x.org"],
  ["a no-break space at the end", "a@x.org\xa0", "a@x.org\xa0"],
  ["a local part in Shift-JIS whose second byte is a backslash", "a\x83\x5c@x.org", "aƒx@x.org"],
  ["a local part in Shift-JIS whose second byte is an at sign", "\x83\x40b@x.org", "ƒxb@x.org"],
  ["two addresses, one with a local part in windows-1252", "jos\xe9@x.org, b@y.org", "josé@x.org, b@y.org"],
  ["a domain in Shift-JIS", "a@\x93\xfa\x96\x7b\x8c\xea.jp", ""],
  ["a domain in windows-1251 with Western letters only", "a@\xe4\xee\xec.com", ""],
  ["a top-level domain in windows-1251", "a@b.\xf0\xf4", ""],
  ["a domain alone", "m\xfcller.de", "müller.de"],
  ["a domain alone in EUC-JP", "\xc6\xfc\xcb\xdc\xb8\xec.jp", ""],
])("decodes or rejects the bytes of an item: %s", (_, binary, text) => expect(itemText(binary)).toBe(text));
