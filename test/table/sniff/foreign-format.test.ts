/** Covers the refusal of files that are no tables. */
import { describe, expect, test } from "vitest";
import { ChoiceError } from "../../../src/files/errors.js";
import { refuseForeignFormat } from "../../../src/table/sniff/foreign-format.js";

const bytes = (...values: number[]) => Buffer.from(values);

describe("foreign formats", () => {
  test.each<[string, Buffer | string, string]>([
    ["a workbook of today", "PK\x03\x04\x14\0", "a zip archive or a spreadsheet file; export it as CSV"],
    ["a workbook of 1997", bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1), "an Excel 97-2003 workbook (.xls)"],
    [
      "a workbook with a password",
      Buffer.concat([bytes(0xd0, 0xcf, 0x11, 0xe0), Buffer.from("xxEncryptedPackage", "utf16le")]),
      "a workbook with a password; save it without one",
    ],
    ["a PDF document", "%PDF-1.7\n", "a PDF document"],
    ["an HTML page", "\n<!DOCTYPE html>\n<p>a@x.net\n", "an HTML page, even if its name ends in .xls"],
    ["an HTML table", "<table><tr><td>a@x.net</td></tr></table>", "an HTML page"],
    ["an XML document", '<?xml version="1.0"?><contacts/>', "an XML document"],
    ["an RTF document", "{\\rtf1\\ansi a@x.net}", "an RTF document"],
    ["an SQLite database", "SQLite format 3\0\x10\0", "an SQLite database"],
    ["UTF-16 without a mark", Buffer.from("email\na@x.net\n", "utf16le"), "pass --encoding utf-16le"],
    ["UTF-32 with a mark", bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0), "UTF-32 text, which is not read"],
    ["UTF-32 without a mark", bytes(0x61, 0, 0, 0, 0x40, 0, 0, 0), "UTF-32 text, which is not read"],
    ["nothing but NUL bytes", Buffer.alloc(65_536), "not text: mostly NUL bytes"],
    [
      "random bytes",
      Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197 + (i >> 3)) & 255)),
      "not text",
    ],
  ])("rejects %s", (_, start, message) => {
    const refuse = () => refuseForeignFormat("list.csv", Buffer.from(start));
    expect(refuse).toThrow(ChoiceError);
    expect(refuse).toThrow(`list.csv: `);
    expect(refuse).toThrow(message);
  });

  test.each<[string, string]>([
    ["an empty file", ""],
    ["a table", "id,email\n1,a@x.net\n"],
    ["lines of JSON", '{"email":"a@x.net"}\n'],
    ["a list of address literals", "[192.0.2.1]\n[192.0.2.2]\n"],
    ["a name in brackets", "[Ann] a@x.net\n"],
    ["an address in angle brackets", "<a@x.net>\n"],
    ["a field of NUL bytes", "email\n\0\0\0\0\0\0\n"],
    ["text with a few control characters", "a\x01@x.net\nb\x02@x.net\n"],
  ])("accepts %s", (_, text) => {
    expect(() => refuseForeignFormat("list.csv", Buffer.from(text))).not.toThrow();
  });
});
