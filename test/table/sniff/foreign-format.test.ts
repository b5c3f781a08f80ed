/** Covers the refusal of files that are no tables. */
import { describe, expect, test } from "vitest";
import { ChoiceError } from "../../../src/files/errors.js";
import { refuseForeignFormat } from "../../../src/formats/foreign-format.js";

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
    ["a script", '// users\nconst users = [\n{"email":"a@x.net"}];\n', "JavaScript; save its data as JSON"],
    ["a module", 'export default {"email":"a@x.net"};\n', "JavaScript"],
    ["objects with commas", '{"email":"a@x.net"},\n{"email":"b@x.net"},\n', "put [ before the first object"],
    ["an RTF document", "{\\rtf1\\ansi a@x.net}", "an RTF document"],
    ["an SQLite database", "SQLite format 3\0\x10\0", "an SQLite database"],
    ["UTF-16 without a mark", Buffer.from("email\na@x.net\n", "utf16le"), "pass --encoding utf-16le"],
    ["UTF-16 of big-endian machines", Buffer.from("email\na@x.net\n", "utf16le").swap16(), "pass --encoding utf-16be"],
    ["UTF-32 with a mark", bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0), "UTF-32 text, which is not read"],
    ["UTF-32 without a mark", bytes(0x61, 0, 0, 0, 0x40, 0, 0, 0), "UTF-32 text, which is not read"],
    ["nothing but NUL bytes", Buffer.alloc(65_536), "not text: mostly NUL bytes"],
    ["random bytes", Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 197 + (i >> 3)) & 255)), "not text"],
  ])("rejects %s", (_, start, message) => {
    const refuse = () => refuseForeignFormat("list.csv", Buffer.from(start), "emails");
    expect(refuse).toThrow(ChoiceError);
    expect(refuse).toThrow(`list.csv: `);
    expect(refuse).toThrow(message);
  });

  test.each<[string, string]>([
    ["an empty file", ""],
    ["a table", "id,email\n1,a@x.net\n"],
    ["a column that is called let", "let,email\n1,a@x.net\n"],
    ["a row with JSON", '{"a":1},a@x.net\n{"a":2},b@x.net\n'],
    ["lines of JSON", '{"email":"a@x.net"}\n'],
    ["a list of address literals", "[192.0.2.1]\n[192.0.2.2]\n"],
    ["a name in brackets", "[Ann] a@x.net\n"],
    ["an address in angle brackets", "<a@x.net>\n"],
    ["a field of NUL bytes", "email\n\0\0\0\0\0\0\n"],
    ["text with a few control characters", "a\x01@x.net\nb\x02@x.net\n"],
  ])("accepts %s", (_, text) => {
    expect(() => refuseForeignFormat("list.csv", Buffer.from(text), "emails")).not.toThrow();
  });

  test.each<[Buffer | string, string]>([
    [bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), "an xz file; unpack it: xz -dc list.csv | idv emails"],
    ["BZh91AY&SY", "a bzip2 file; unpack it: bzip2 -dc list.csv | idv emails"],
    [bytes(0x42, 0x5a, 0x68, 0x39, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90), "a bzip2 file; unpack it: "],
    [bytes(4, 0x22, 0x4d, 0x18), "an lz4 file; unpack it: lz4 -dc list.csv | idv emails"],
    ["LZIP\x01", "an lzip file; unpack it: lzip -dc list.csv | idv emails"],
    [bytes(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c), "a 7z archive; unpack it: 7z x -so list.csv | idv emails"],
    ["Rar!\x1a\x07\x01\0", "a rar archive; unpack it: unrar p -inul list.csv | idv emails"],
    [`list.csv${"\0".repeat(249)}ustar\0`, "a tar archive; unpack it: tar -xOf list.csv | idv emails"],
    [bytes(0x1f, 0x9d, 0x90), "a compress file (.Z); unpack it: gzip -dc list.csv | idv emails"],
    [bytes(0x1f, 0x8b, 8), "a gzip file in a compressed file; unpack it: gzip -dc list.csv | gzip -dc | idv emails"],
    [
      bytes(0x28, 0xb5, 0x2f, 0xfd),
      "a zstd file in a compressed file; unpack it: zstd -dc list.csv | zstd -dc | idv emails",
    ],
    ["-----BEGIN PGP MESSAGE-----\n", "a PGP message; unpack it: gpg -d list.csv | idv emails"],
    [bytes(0x85, 1, 12, 3), "a PGP message; unpack it: "],
    [bytes(0x8c, 13, 4, 9), "a PGP message; unpack it: "],
  ])("names the command that unpacks %j", (start, message) => {
    expect(() => refuseForeignFormat("list.csv", Buffer.from(start), "emails")).toThrow(`list.csv: ${message}`);
  });

  test("quotes a name in the command, and stands for standard input with FILE", () => {
    const xz = bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0);
    expect(() => refuseForeignFormat("it's a list", xz, "domains")).toThrow(
      "an xz file; unpack it: xz -dc 'it'\\''s a list' | idv domains",
    );
    expect(() => refuseForeignFormat("standard input", xz, "emails")).toThrow("xz -dc FILE | idv emails");
  });
});
