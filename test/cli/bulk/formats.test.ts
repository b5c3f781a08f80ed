/** Covers output formats, damaged compression, encodings, byte order marks and quotes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { decompress } from "@cloudpss/zstd";
import { expect, test } from "vitest";
import { runOver } from "../../support/run-over.js";
import { times } from "../../support/tier.js";

const short = "email,a,a\nann@larch-and-oak.com,1\n";
const shortLine = '{"email":"ann@larch-and-oak.com","a":"1","status":"ok"}\n';
const names = "email,a,a,a[2],status,1\nann@larch-and-oak.com,1,2,3,4,5\n";
const namedLine =
  '{"email":"ann@larch-and-oak.com","a":"1","a[3]":"2","a[2]":"3","status":"4","1":"5","idv_status":"ok"}\n';
const plainLine = '{"1":"ann@larch-and-oak.com","idv_1":"ok"}\n';
const values =
  '{"mail":"ann.lee@gmial.com","x":[1,{"y":null}],"z":null}\n{"mail":7,"x":true}\n{"mail":null,"x":["a", "b"],"z":1.50}\n{"x":[1.0, 2],"z":1}\n{"x":{"b":98765432109876543}}\n';
const fields =
  "mail\tx\tz\tstatus\treason\tsuggestion\n" +
  'ann.lee@gmial.com\t"[1,{""y"":null}]"\t\tfake\ttypo-domain: gmial.com\tann.lee@gmail.com\n' +
  '7\ttrue\t\tfake\tsyntax: no @ at 1\t\n\t"[""a"",""b""]"\t1.50\t\t\t\n\t[1.0, 2]\t1\t\t\t\n\t"{""b"":98765432109876543}"\t\t\t\t\n';
const excel = Buffer.from("Name;email\r\nJ\xfcrg;ann@larch-and-oak.com\r\n", "latin1");
const marked = "\ufeffName;email;status\r\nJürg;ann@larch-and-oak.com;ok\r\n";

test.each<[string, string, string | Buffer, string]>([
  ["a short row with duplicate names", "--format jsonl", short, shortLine],
  ["unique names for duplicate, unnamed and added columns", "--format jsonl", names, namedLine],
  ["a plain list", "--format jsonl --set statusColumn=1", "ann@larch-and-oak.com\n", plainLine],
  ["JSON values that are not strings", "--format tsv --explain", values, fields],
  ["a table that Excel saved, with a byte order mark", "--encoding windows-1252", excel, marked],
])("a run writes %s", async (_, words, input, expected) => {
  expect(await runOver(input, `emails -q ${words}`)).toMatchObject({ code: 0, output: expected });
});

const lateStatus = `${'{"email":"a@b.net"}\n'.repeat(4000)}{"status":1}\n`;
const isTaken = 'field "status" already exists; choose another name with --set statusColumn=NAME';
const wrongChecksum = new Uint8Array(gzipSync("email\n")).fill(0, -8, -4);
const isDamaged = "the gzip data is damaged: incorrect data check; get the file again";
const belowTitle = "Title\n\nid,email\n1,ann@larch-and-oak.com\n1,2,3\n";
const isBad = "3 fields where the header has 2; quote the fields that hold the delimiter, name the delim";
const notJapanese = Buffer.from("email\n\xff\xff\n", "latin1");
const isOther = "not shift_jis text, at or after byte 1; pass the right --encoding";
const isUnknown = 'unknown encoding "klingon"; use utf-8, utf-16le, windows-1252, iso-8859-2, shift_jis or gbk';
const isLetter = '--quote: "a" is invalid. It takes one ASCII character other than letters, digits and space.';
const isFewer = "--skip-lines 3 is more than the 2 lines at its start; give fewer";

test.each<[string, string, string | Uint8Array, number, string]>([
  ["a field named status in a later row", "-q", lateStatus, 6, `l.csv:4001: ${isTaken}`],
  ["gzip data with a wrong checksum", "-q", wrongChecksum, 6, `l.csv: ${isDamaged}`],
  ["a bad row, counted from the first line of the file", "-q", belowTitle, 6, `l.csv:5: ${isBad}`],
  ["text in another encoding", "--encoding shift_jis", notJapanese, 6, `l.csv: ${isOther}`],
  ["an unknown encoding", "--encoding klingon", short, 2, isUnknown],
  [
    "an encoding by another name",
    "--encoding ANSI",
    short,
    2,
    isUnknown.replace('"klingon"', '"ANSI" (did you mean windows-1252?)'),
  ],
  ["a letter as quote", "--quote a", short, 2, isLetter],
  ["more lines to skip than there are", "--skip-lines 3", "a\nb\n", 2, `l.csv: ${isFewer}`],
])("a run refuses %s", async (_, words, input, code, message) => {
  const { stderr, ...outcome } = await runOver(input, `emails -o o.csv ${words}`);
  expect(outcome).toMatchObject({ code, output: "", files: ["l.csv"] });
  expect(stderr).toContain(`idv: ${message}`);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
  ["gz", gunzipSync],
  ["zst", decompress],
])("writes many pieces of .%s in their order", async (extension, unpack) => {
  const rows = Array.from({ length: times(90_000, 30_000) }, (_, i) => `${i},user${i}@larch-and-oak.com`);
  const { code, home } = await runOver(["id,email", ...rows, ""].join("\n"), `emails -q -o o.${extension}`);
  expect(code).toBe(0);
  const unpacked = Buffer.from(unpack(readFileSync(join(home, `o.${extension}`)))).toString();
  expect(unpacked).toBe(["id,email,status", ...rows.map((row) => `${row},ok`), ""].join("\n"));
});

test.each(["out.csv", "out.tsv", "out.jsonl"])("%s has a first line with an item as a row", async (output) => {
  const rows = ["bob", "cid", "dan"].map((name) => `${name}@larch-and-oak.com\t${name}\n`);
  const { read } = await runOver(`ann@larch-and-oak.com,Ann\n${rows.join("")}`, `emails -q -o ${output}`);
  expect(read(output).split("\n")[0]).toMatch(/ann@larch-and-oak\.com,Ann.*\bok\b/);
});

test.each([
  ["list.csv.gz", "out.CSV", "\t"],
  ["list.txt", "out.csv", ","],
])("tabs in %s are written to %s as its ending asks", async (input, output, delimiter) => {
  const packed = gzipSync("name\temail\nAnn\tann@larch-and-oak.com\n");
  const { read } = await runOver(packed, `emails -q -o ${output}`, input);
  expect(read(output)).toBe("name\temail\tstatus\nAnn\tann@larch-and-oak.com\tok\n".replaceAll("\t", delimiter));
});
