/** Covers output formats, damaged compression, encodings, byte order marks, comments, quotes and escapes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { compress, decompress } from "@cloudpss/zstd";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const csv = 'id,email,note\n1,ann@larch-and-oak.com,"a ""b"""\n2,x@mailinator.com,é\n';

/** Runs `idv emails` on a file in a new folder and returns its output. */
async function emails(content: string | Uint8Array, ...args: string[]) {
  const home = folderOf({ list: content });
  const { code, stdout, stderr } = await idv(["emails", "list", "-q", ...args], { home });
  return { code, output: Buffer.from(stdout, "latin1").toString(), stderr };
}

describe("--format", () => {
  test.each<[string, string, string[], string]>([
    [
      "a short row with duplicate names",
      "email,a,a\nann@larch-and-oak.com,1\n",
      ["--format", "jsonl"],
      '{"email":"ann@larch-and-oak.com","a":"1","status":"ok"}\n',
    ],
    [
      "unique names for duplicate, unnamed and added columns",
      "email,a,a,a[2],status,1\nann@larch-and-oak.com,1,2,3,4,5\n",
      ["--format", "jsonl"],
      '{"email":"ann@larch-and-oak.com","a":"1","a[3]":"2","a[2]":"3","status":"4","1":"5","idv_status":"ok"}\n',
    ],
    [
      "a plain list with an added column of the same name",
      "ann@larch-and-oak.com\n",
      ["--format", "jsonl", "--set", "statusColumn=1"],
      '{"1":"ann@larch-and-oak.com","idv_1":"ok"}\n',
    ],
    [
      "jsonl values that are not strings, with --explain",
      '{"mail":"ann.lee@gmial.com","x":[1,{"y":null}],"z":null}\n{"mail":7,"x":true}\n{"mail":null}\n',
      ["--format", "tsv", "--explain"],
      "mail\tx\tz\tstatus\treason\tsuggestion\n" +
        'ann.lee@gmial.com\t"[1,{""y"":null}]"\t\tfake\ttypo-domain: gmial.com\tann.lee@gmail.com\n' +
        "7\ttrue\t\tfake\tsyntax: no @ at 1\t\n\t\t\t\t\t\n",
    ],
  ])("writes %s", async (_, input, args, expected) => {
    expect(await emails(input, ...args)).toMatchObject({ code: 0, output: expected });
  });

  test.each<[string, string, string[], string]>([
    [
      "a line that is not an object",
      '{"email":"a@b.net"}\n[1]\n',
      [],
      "list:2: not a JSON object; correct the line or pass --bad-rows skip",
    ],
    [
      "a field that is not in the first rows",
      `{"email":"a@b.net"}\n${'{"email":"a@b.net"}\n'.repeat(4000)}{"more":1}\n`,
      ["--format", "csv"],
      'list:4002: field "more" is in none of the first rows, so it has no column; pass --format jsonl',
    ],
    [
      "a field named status in a later row",
      `${'{"email":"a@b.net"}\n'.repeat(4000)}{"status":1}\n`,
      [],
      'list:4001: field "status" already exists; choose another name with --set statusColumn=NAME',
    ],
  ])("rejects %s", async (_, input, args, message) => {
    const { code, stderr } = await emails(input, ...args);
    expect({ code, stderr }).toEqual({ code: 6, stderr: `idv: ${message}\n` });
  });
});

describe("compression", () => {
  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["gz", gunzipSync],
    ["zst", decompress],
  ])("writes many pieces of .%s in their order", async (extension, unpack) => {
    const rows = Array.from({ length: 90_000 }, (_, i) => `${i},user${i}@larch-and-oak.com`);
    const home = folderOf({ list: ["id,email", ...rows, ""].join("\n") });
    const output = `o.csv.${extension}`;
    expect((await idv(["emails", "list", "-q", "-o", output], { home })).code).toBe(0);
    const unpacked = Buffer.from(unpack(readFileSync(join(home, output)))).toString();
    expect(unpacked).toBe(["id,email,status", ...rows.map((row) => `${row},ok`), ""].join("\n"));
  });

  test.each<[string, Uint8Array, string]>([
    ["truncated gzip", gzipSync(csv).subarray(0, -12), "the gzip data is damaged: it is cut off"],
    ["truncated zstd", compress(Buffer.from(csv)).subarray(0, -3), "the zstd data is damaged: it is cut off"],
    [
      "gzip with a wrong checksum",
      new Uint8Array(gzipSync(csv)).fill(0, -8, -4),
      "the gzip data is damaged: incorrect data check",
    ],
  ])("rejects %s", async (_, packed, message) => {
    const home = folderOf({ list: packed, "o.csv": "old" });
    const { code, stderr } = await idv(["emails", "list", "-o", "o.csv"], { home });
    expect({ code, stderr }).toEqual({ code: 6, stderr: `idv: list: ${message}; get the file again\n` });
    expect(readFileSync(join(home, "o.csv"), "utf8")).toBe("old");
  });
});

describe("encodings", () => {
  test("rejects an unknown encoding and text in another encoding", async () => {
    expect(await emails(csv, "--encoding", "klingon")).toMatchObject({
      code: 2,
      stderr:
        'idv: unknown encoding "klingon"; use utf-8, utf-16le, windows-1252, iso-8859-2, shift_jis or gbk, for example\n',
    });
    expect(await emails(Buffer.from("email\n\xff\xff\n", "latin1"), "--encoding", "shift_jis")).toMatchObject(
      {
        code: 6,
        stderr: "idv: list: not shift_jis text, at or after byte 1; pass the right --encoding\n",
      },
    );
  });
});

describe("comments, quotes and escapes", () => {
  const commented =
    "# made today, by hand\nid,email\n# x,y,z\n1,ann@larch-and-oak.com\n2,#x@mailinator.com\n#end";

  test("keeps numbers as they are written", async () => {
    const lines = [
      '{"email":"ann@larch-and-oak.com","id":12345678901234567890,"w":1.50,"o":{"b":98765432109876543,"s":"a,\\"}:"},"n":null}',
      '{"email":"bob@larch-and-oak.com","id":1,"w":1E5,"o":[1.0, 2],"n":"5.0"}',
      // A digit before a dot in another field changes nothing.
      '{"email":"ann1.lee@larch-and-oak.com","id":2,"w":1,"o":["a", "b"],"n":true}',
    ];
    const { output } = await emails(lines.join("\n"), "--format", "csv");
    expect(output.split("\n").slice(1, 4)).toEqual([
      'ann@larch-and-oak.com,12345678901234567890,1.50,"{""b"":98765432109876543,""s"":""a,\\""}:""}",,ok',
      'bob@larch-and-oak.com,1,1E5,"[1.0, 2]",5.0,ok',
      'ann1.lee@larch-and-oak.com,2,1,"[""a"",""b""]",true,ok',
    ]);
  });

  test("does not lose comments in place", async () => {
    expect(await emails(commented, "-I", "--comment", "#", "--format", "csv")).toMatchObject({
      code: 2,
      stderr: "idv: --in-place would lose the comments: --format drops them; use -o\n",
    });
  });

  test.each<[string[], string]>([
    [
      ["--quote", "a"],
      '--quote: "a" is invalid. It takes one ASCII character other than letters, digits and space.',
    ],
    [["--comment", "#", "-d", "#"], "--delimiter, --quote and --comment need different characters"],
  ])("rejects %j", async (args, message) => {
    expect(await emails(csv, ...args)).toMatchObject({ code: 2, stderr: `idv: ${message}\n` });
  });
});

describe("lines above the table", () => {
  const table = "name,email\nAnn,ann@larch-and-oak.com\nBob,x@mailinator.com\n";

  test.each<[string, string]>([
    ["out.tsv", "name\temail\tstatus\nAnn\tann@larch-and-oak.com\tok\nBob\tx@mailinator.com\tdisposable\n"],
    [
      "out.jsonl",
      '{"name":"Ann","email":"ann@larch-and-oak.com","status":"ok"}\n{"name":"Bob","email":"x@mailinator.com","status":"disposable"}\n',
    ],
  ])("leave a count in the summary where %s has no place for them", async (name, output) => {
    const home = folderOf({ "list.csv": `Customers of the north\n\nExported in May\n${table}` });
    const { code, stderr } = await idv(["emails", "list.csv", "-o", name], { home });
    expect(code).toBe(0);
    expect(stderr).toContain(
      "left out: 2 lines above the table, for which the format of the output has no place\n",
    );
    expect(readFileSync(join(home, name), "utf8")).toBe(output);
    const json = await idv(["emails", "list.csv", "-o", name, "--log", "json"], { home });
    expect(JSON.parse(json.stderr)).toMatchObject({ linesLeftOut: 2 });
    const same = await idv(["emails", "list.csv", "-o", "same.csv", "--log", "json"], { home });
    expect(JSON.parse(same.stderr)).toMatchObject({ linesLeftOut: 0 });
    expect(readFileSync(join(home, "same.csv"), "utf8")).toMatch(
      /^Customers of the north\n\nExported in May\n/,
    );
  });

  test("do not count as titles with an address in them, unless the user skips them", async () => {
    const home = folderOf({ "list.csv": `Customers\nPrepared by: zoe@larch-and-oak.com\n\n${table}` });
    const { code, stderr } = await idv(["emails", "-q", "list.csv", "-o", "out.tsv"], { home });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "idv: list.csv: line 4 is another header: name,email; put its table into a file of its own, or pass --skip-lines 3 if the lines above are no rows, or --force if it is a row\n",
    });
    const skipped = await idv(["emails", "list.csv", "--skip-lines", "3", "-o", "out.tsv"], { home });
    expect(skipped.stderr).toContain("left out: 2 lines above the table");
  });

  test("count as rows if they hold an item, whatever their delimiter", async () => {
    const rows = ["bob", "cid", "dan"].map((name) => `${name}@larch-and-oak.com\t${name}\n`);
    const home = folderOf({ "list.csv": `ann@larch-and-oak.com,Ann\n${rows.join("")}` });
    for (const name of ["out.csv", "out.tsv", "out.jsonl"]) {
      await idv(["emails", "-q", "list.csv", "-o", name], { home });
      expect(readFileSync(join(home, name), "utf8").split("\n")[0]).toMatch(
        /ann@larch-and-oak\.com,Ann.*\bok\b/,
      );
    }
  });
});

test.each([
  ["list.csv", "out.csv", "name\temail\tstatus\nAnn\tann@larch-and-oak.com\tok\n"],
  ["list.csv.gz", "out.CSV", "name\temail\tstatus\nAnn\tann@larch-and-oak.com\tok\n"],
  ["list.txt", "out.csv", "name,email,status\nAnn,ann@larch-and-oak.com,ok\n"],
])("tabs in %s are written to %s as its ending asks", async (input, output, expected) => {
  const table = "name\temail\nAnn\tann@larch-and-oak.com\n";
  const home = folderOf({ [input]: input.endsWith(".gz") ? gzipSync(table) : table });
  await idv(["emails", "-q", input, "-o", output], { home });
  expect(readFileSync(join(home, output), "utf8")).toBe(expected);
});

test("--encoding :utf-8-bom, and --encoding of a table that Excel saved, start with a byte order mark", async () => {
  const marked = await idv(["emails", "--encoding", ":utf-8-bom"], {
    stdin: "email\nann@larch-and-oak.com\n",
  });
  expect(marked.stdout).toBe("\xef\xbb\xbfemail,status\nann@larch-and-oak.com,ok\n");
  const again = await idv(["emails", "--encoding", ":utf-8-bom"], {
    stdin: Buffer.from(marked.stdout, "latin1"),
  });
  expect(again.stdout).toBe("\xef\xbb\xbfemail,status,idv_status\nann@larch-and-oak.com,ok,ok\n");
  const lines = await idv(["emails", "--encoding", ":utf-8-bom", "--format", "jsonl"], {
    stdin: "\ufeffemail\na@@b\n",
  });
  expect(lines.stdout).toBe('\xef\xbb\xbf{"email":"a@@b","status":"fake"}\n');
  const stdin = Buffer.from("Name;email\r\nJ\xfcrg;ann@larch-and-oak.com\r\n", "latin1");
  const excel = await idv(["emails", "--encoding", "windows-1252"], { stdin });
  expect(Buffer.from(excel.stdout, "latin1").toString()).toBe(
    "\ufeffName;email;status\r\nJürg;ann@larch-and-oak.com;ok\r\n",
  );
});
