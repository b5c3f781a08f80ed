/** Covers the table reader: the header and values it returns, and the tables it rejects. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { profiles } from "../../src/core/run/items/profiles.js";
import { TableError } from "../../src/core/table/errors.js";
import { openTable } from "../../src/formats/text-formats.js";
import { chunksIn, type Options, open, readValues } from "../support/tables.js";

/** Settings for the scanner, and for csv-parse as the reference. */
const both = (settings: Options): Options[] => [settings, { ...settings, strict: true }];

describe("header and values", () => {
  test.each<[string, Options, string[] | undefined, string[]]>([
    ["id,email\n1,a@b.net\n2,c@d.net\n", {}, ["id", "email"], ["a@b.net", "c@d.net"]],
    ["\ufeffid;email\r\n1;a@b.net\r\n", {}, ["id", "email"], ["a@b.net"]],
    ["a@b.net\nc@d.net", {}, undefined, ["a@b.net", "c@d.net"]],
    ["email\nx\n", { header: false }, undefined, ["email", "x"]],
    ["a@b.net,x\n", { columns: ["a@b.net"] }, ["a@b.net", "x"], []],
    ["a@b.net,x\n", { header: true, columns: ["2"] }, ["a@b.net", "x"], []],
    ["id,email\n1\n,\n\n3,a@b.net\n", {}, ["id", "email"], ["", "", "", "a@b.net"]],
    ["id,email\n", {}, ["id", "email"], []],
    ["id.a@b.net.x\n", { delimiter: ".", columns: ["2"] }, undefined, ["a@b"]],
    ['"Lee, A" <a@b.net>\nx, y\n', {}, undefined, ['"Lee, A" <a@b.net>', "x, y"]],
    ['email,"no\nte"\n"a@b.net","x\n""y"""\n', {}, ["email", "no\nte"], ["a@b.net"]],
    ["email\nü@b.net\n", {}, ["email"], ["ü@b.net"]],
    ["\n  \nid,email\n1,a@b.net\n", {}, ["id", "email"], ["a@b.net"]],
    ["\n\na@b.net\n", {}, undefined, ["", "", "a@b.net"]],
    ["a@b.net,note\nc@d.net\ne@f.net\n", {}, undefined, ["a@b.net", "c@d.net", "e@f.net"]],
    [`a@b.net,"${"x".repeat(70_000)}"\n`, {}, undefined, ["a@b.net"]],
    ["", {}, undefined, []],
    ["\ufeff", {}, undefined, []],
  ])("come from $0", async (text, options, header, values) => {
    for (const settings of [1, 2, 7, 65_536].flatMap((chunkSize) => both({ ...options, chunkSize }))) {
      const table = await open(text, settings);
      expect(table.header).toEqual(header);
      expect(await readValues(table)).toEqual(values);
    }
  });

  test("become text as windows-1252 if they are not UTF-8", async () => {
    for (const strict of both({})) {
      const table = await open(Buffer.from("email,name\nj\xfcrg@b.net,J\xfcrg\n", "latin1"), strict);
      expect(await readValues(table)).toEqual(["jürg@b.net"]);
    }
  });

  test("continue beyond the sample", async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i},user${i}@example.net`);
    const table = await open(`id,email\n${lines.join("\n")}\n`, { chunkSize: 1000 });
    expect(await readValues(table)).toEqual(lines.map((line) => line.split(",")[1]));
  });

  test("come with the name and index of the column", async () => {
    expect(await open("id,email\n1,a@b.net\n")).toMatchObject({ column: 1, columnName: "email", width: 2 });
    expect(await open("1,a@b.net\n")).toMatchObject({ column: 1, columnName: undefined, width: 2 });
    expect(await open("")).toMatchObject({ column: 0, columnName: undefined, width: 0 });
  });
});

describe("unreadable tables", () => {
  const neverClosed = "a quoted field is never closed; the quote opens in column 2";
  const swallowing = "a quote opens in column 2 and over 1 MiB of lines follow inside it; close it or double it";

  test.each<[string, string, string]>([
    ["a record with too many fields", "id,email\n1,a@b.net\n2,c@d.net,x\n", "3: 3 fields where the header has 2"],
    ["such a record far down", `id,email\n${"1,a@b.net\n".repeat(20_000)}2,c@d.net,x\n`, "20002: 3 fields"],
    ["such a record after line ends", 'id,email\n"1\n2\r\n3\r4",a@b.net\n2,c@d.net,x\n', "6: 3 fields"],
    ["such a record without a header", "1,a@b.net\n2,c@d.net\n2,c@d.net,x\n", "3: 3 fields where the table has 2"],
    ["a quote that is never closed", 'id,email\n1,a@b.net\n2,"c@d.net\n3,e@f.net\n', `3: ${neverClosed}`],
    ["such a quote in a long file", `id,email\n1,"a@b.net\n${"2,c@d.net\n".repeat(200_000)}`, `2: ${swallowing}`],
    ["such a quote in the header", 'id,"email\n1,a@b.net\n', `1: ${neverClosed}`],
    ["such a quote in the first record", '1,"abc,a@b.net\n2,x,c@d.net\n', `1: ${neverClosed}`],
  ])("fail for %s", async (_, table, message) => {
    for (const settings of both({ chunkSize: 10_000 })) {
      const reading = async () => readValues(await open(table, settings));
      await expect(reading()).rejects.toThrow(`list.csv:${message}`);
      await expect(reading()).rejects.toThrow(TableError);
    }
  });
});

test("keeps the records of earlier reads if a later record is broken", async () => {
  const table = await open(`email\n${"a@b.net\n".repeat(10_000)}"c@d.net\n`, { chunkSize: 70_000 });
  let count = 0;
  await expect(async () => {
    for await (const chunk of chunksIn(table)) count += chunk.count;
  }).rejects.toThrow();
  expect(count).toBeGreaterThan(8000);
});

test("rejects a header with a quote that is never closed without reading much of the file", async () => {
  let read = 0;
  async function* endless() {
    for (yield Buffer.from('"email,n\n'); ; read += 65_000) yield Buffer.alloc(65_000, "ann@larch-and-oak.com,1\n");
  }
  const opening = openTable({ name: "list.csv", bytes: endless() }, { profile: profiles.email });
  await expect(opening).rejects.toThrow("list.csv:1: a quote opens in column 1 and over 1 MiB");
  expect(read).toBeLessThan(2_000_000);
});

// These wait for the pauses, so they wait together.
describe.concurrent("an input that pauses", () => {
  async function* paused(...pieces: readonly string[]) {
    for (const [nth, piece] of pieces.entries()) {
      if (nth > 0) await sleep(700);
      yield Buffer.from(piece);
    }
  }
  const openPaused = (...pieces: readonly string[]) =>
    openTable({ name: "list", bytes: paused(...pieces), mayPause: true }, { profile: profiles.email });

  test.each<[string, string[]]>([
    ["after a header", ["email,note\n", "a@b.net,x\nc@d.net,y\n"]],
    ["after a record without an item", ["email,note\n,x\n", "a@b.net,x\nc@d.net,y\n"]],
    ["in a quoted field", ['email,note\na@b.net,"x\n', 'y"\nc@d.net,y\n']],
    ["in its first line", ["email,no", "te\na@b.net,x\nc@d.net,y\n"]],
    ["after a record", ["email,note\na@b.net,x\n", "c@d.net,y\n"]],
    ["in a record", ["email,note\na@b.net,x\nc@d.n", "et,y\n"]],
    ["in a document", ['[{"email": "a@b.net"},\n', '{"email": "c@d.net"}]\n']],
  ])("%s gives the rows of a whole one", async (_, pieces) => {
    const table = await openPaused(...pieces);
    expect(table.names[0]).toBe("email");
    // The brackets of a document are records without values.
    expect((await readValues(table)).filter(Boolean)).toEqual(["a@b.net", "c@d.net"]);
  });

  test("is opened after a record, and left while it is silent", async () => {
    async function* silent() {
      yield Buffer.from("id;email\n1;a@b.net\n");
      await new Promise(() => {});
    }
    const table = await openTable({ name: "list", bytes: silent(), mayPause: true }, { profile: profiles.email });
    expect(table.dialect.delimiter).toBe(";");
    for await (const chunk of chunksIn(table)) if (chunk.count > 0) break;
  });
});
