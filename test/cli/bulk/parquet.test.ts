/** Covers Parquet files, read and written. DuckDB makes them and tells what is in them. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { xlsxOf } from "../../support/workbooks.js";

/** Returns the rows of a query. Numbers of 64 bits and values of other kinds become texts. */
async function query(folder: string, sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    await connection.run(`SET file_search_path = '${folder}'`);
    const rows = (await connection.runAndReadAll(sql)).getRows();
    return rows.map((row) => row.map((value) => (value === null ? null : String(value))));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const ok = "ann@larch-and-oak.com";
const bad = "b@mailinator.com";

/** Columns of all kinds; the third row has no address. */
async function folderWithList(options = ""): Promise<string> {
  const home = temporaryFolder();
  const rows = `(VALUES (1, '${ok}'), (2, '${bad}'), (3, NULL), (4, '${bad}')) AS list(id, "E-mail")`;
  const more = [
    "(id / 4)::DECIMAL(6,3) AS share",
    "DATE '2026-02-01' + id AS day",
    "TIMESTAMPTZ '2026-02-01 10:00:00+02' AS at",
    "[id, id + 1] AS list",
    `{a: id, b: 'x, "y"'} AS struct`,
    `CASE WHEN id = 2 THEN E'two\\nlines, "q"' END AS note`,
    "'\\x00\\xff'::BLOB AS bytes",
  ];
  await query(
    home,
    `COPY (SELECT *, ${more.join(", ")} FROM ${rows}) TO '${home}/l.parquet' (FORMAT parquet${options})`,
  );
  return home;
}

const leftBehind = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith("idv-list-") && name.includes(`-${process.pid}-`));

test("a Parquet file comes back with a column more, its types, compression, row groups and metadata", async () => {
  const home = await folderWithList(
    ", COMPRESSION gzip, ROW_GROUP_SIZE 2048, KV_METADATA {pandas: '{\"a\": 1}'}",
  );
  const { code, stderr } = await idv(["emails", "l.parquet", "-o", "o.parquet", "--explain"], { home });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('l.parquet: 4 rows, 2 distinct e-mail addresses in column 2 "E-mail"');
  const types = (file: string) =>
    query(home, `SELECT column_name, column_type FROM (DESCRIBE FROM '${file}')`);
  expect(await types("o.parquet")).toEqual([
    ...(await types("l.parquet")),
    ...["status", "reason", "suggestion"].map((name) => [name, "VARCHAR"]),
  ]);
  const own = "EXCLUDE (status, reason, suggestion)";
  expect(await query(home, `SELECT * ${own} FROM 'o.parquet'`)).toEqual(
    await query(home, "FROM 'l.parquet'"),
  );
  expect(await query(home, "SELECT status, reason, suggestion FROM 'o.parquet'")).toEqual([
    ["ok", null, null],
    ["disposable", "disposable-domain: mailinator.com", null],
    [null, null, null],
    ["disposable", "disposable-domain: mailinator.com", null],
  ]);
  const layout = "SELECT DISTINCT compression, row_group_num_rows FROM parquet_metadata('o.parquet')";
  expect(await query(home, layout)).toEqual([["GZIP", "4"]]);
  const metadata = "SELECT decode(key), decode(value) FROM parquet_kv_metadata('o.parquet')";
  expect(await query(home, metadata)).toEqual([["pandas", '{"a": 1}']]);
  expect(leftBehind()).toEqual([]);
});

test("rows that a filter or --dedupe drops are taken out, and the others stay in their order", async () => {
  const home = await folderWithList();
  const drop = ["emails", "l.parquet", "-q", "-o", "o.parquet", "--drop", "ok", "--dedupe"];
  expect((await idv(drop, { home })).code).toBe(0);
  expect(await query(home, "SELECT id, status FROM 'o.parquet'")).toEqual([
    ["2", "disposable"],
    ["3", null],
  ]);
});

test("-I.bak replaces a Parquet file, and --update fills in what is missing", async () => {
  const home = await folderWithList();
  const before = readFileSync(join(home, "l.parquet"));
  await setQuota(home, { limit: 1 });
  expect((await idv(["emails", "-q", "-I.bak", "l.parquet"], { home })).code).toBe(4);
  expect(readFileSync(join(home, "l.parquet.bak"))).toEqual(before);
  const statuses = "SELECT status FROM 'l.parquet'";
  expect((await query(home, statuses)).flat()).toEqual(["ok", "quota_exceeded", null, "quota_exceeded"]);
  await setQuota(home, { limit: 2 });
  expect((await idv(["emails", "-q", "-I", "--update", "l.parquet"], { home })).code).toBe(0);
  expect((await query(home, statuses)).flat()).toEqual(["ok", "disposable", null, "disposable"]);
  expect(await query(home, "SELECT count(*) FROM (DESCRIBE FROM 'l.parquet')")).toEqual([["10"]]);
});

test("other formats are made of a Parquet file: lists and structures are JSON, and missing values empty", async () => {
  const home = await folderWithList();
  expect((await idv(["emails", "l.parquet", "-q"], { home })).stdout).toBe(
    [
      "id,E-mail,share,day,at,list,struct,note,bytes,status",
      `1,${ok},0.250,2026-02-02,2026-02-01 08:00:00+00,"[1,2]","{""a"":1,""b"":""x, \\""y\\""""}",,\\x00\\xFF,ok`,
      `2,${bad},0.500,2026-02-03,2026-02-01 08:00:00+00,"[2,3]","{""a"":2,""b"":""x, \\""y\\""""}","two\nlines, ""q""",\\x00\\xFF,disposable`,
      `3,,0.750,2026-02-04,2026-02-01 08:00:00+00,"[3,4]","{""a"":3,""b"":""x, \\""y\\""""}",,\\x00\\xFF,`,
      `4,${bad},1.000,2026-02-05,2026-02-01 08:00:00+00,"[4,5]","{""a"":4,""b"":""x, \\""y\\""""}",,\\x00\\xFF,disposable`,
      "",
    ].join("\n"),
  );
  expect((await idv(["emails", "l.parquet", "-q", "-o", "o.jsonl", "--only", "ok"], { home })).code).toBe(0);
  expect(JSON.parse(readFileSync(join(home, "o.jsonl"), "utf8"))).toMatchObject({ id: "1", status: "ok" });
});

test("a Parquet file on standard input is read, and returned", async () => {
  const home = await folderWithList();
  const stdin = readFileSync(join(home, "l.parquet"));
  expect((await idv(["emails", "-q"], { home, stdin })).stdout).toContain(`2,${bad},`);
  expect((await idv(["emails", "-q", "-o", "o.parquet"], { home, stdin })).code).toBe(0);
  expect(await query(home, "SELECT day, status FROM 'o.parquet' LIMIT 1")).toEqual([["2026-02-02", "ok"]]);
  expect(leftBehind()).toEqual([]);
});

test.each([
  [
    "a table",
    "l.csv",
    `id,email\n01,${ok}\n,${bad}\n`,
    [
      ["01", ok, "ok"],
      [null, bad, "disposable"],
    ],
    ["id", "email", "status"],
  ],
  [
    "semicolons",
    "l.csv",
    `id;email\n1;${ok}\n"a;b";${bad}\n`,
    [
      ["1", ok, "ok"],
      ["a;b", bad, "disposable"],
    ],
    ["id", "email", "status"],
  ],
  ["tabs", "l.tsv", `id\temail\n1\t${ok}\n`, [["1", ok, "ok"]], ["id", "email", "status"]],
  ["a JSON document", "l.json", `[{"n":1,"email":"${ok}"}]`, [["1", ok, "ok"]], ["n", "email", "status"]],
  [
    "a plain list",
    "l.txt",
    `${ok}\n${bad}`,
    [
      [ok, "ok"],
      [bad, "disposable"],
    ],
    ["column1", "status"],
  ],
  [
    "lines above the header",
    "l.csv",
    `Our list\n\nid,email\n1,${ok}\n2,${bad}\n`,
    [
      ["1", ok, "ok"],
      ["2", bad, "disposable"],
    ],
    ["id", "email", "status"],
  ],
  ["JSON Lines", "l.jsonl", `{"n":1,"email":"${ok}"}\n`, [["1", ok, "ok"]], ["n", "email", "status"]],
  [
    "names that differ in case",
    "l.csv",
    `Email,email,\n${ok},${ok},7\n`,
    [[ok, ok, "7", "ok"]],
    ["Email", "email_2", "column3", "status"],
  ],
  [
    "a sheet with a row that is wider than its header",
    "l.xlsx",
    xlsxOf({
      S: `<row r="1"><c r="A1" t="inlineStr"><is><t>email</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>${ok}</t></is></c><c r="B2"><v>5</v></c></row>`,
    }),
    [[ok, "5", "ok"]],
    undefined,
  ],
])("%s becomes a Parquet file of texts", async (_, name, content, rows, names) => {
  const home = folderOf({ [name]: content });
  const { code, stderr } = await idv(
    ["emails", name, "-c", names?.includes("Email") ? "Email" : "1", "-o", "o.parquet"].filter(
      (word) => names?.includes("Email") || (word !== "-c" && word !== "1"),
    ),
    { home },
  );
  expect(code, stderr).toBe(0);
  expect(await query(home, "FROM 'o.parquet'")).toEqual(rows);
  const described = await query(home, "SELECT column_name, column_type FROM (DESCRIBE FROM 'o.parquet')");
  if (names) expect(described).toEqual(names.map((column) => [column, "VARCHAR"]));
});

test("marks in a cell are no rows, and characters of patterns in a name no other files", async () => {
  const home = temporaryFolder();
  const rows = `(VALUES (chr(0) || 'x', '${ok}'), (E'a\\n' || chr(0), '${bad}'), ('', '${bad}')) AS list(a, email)`;
  await query(home, `COPY (FROM ${rows}) TO '${home}/a[1]*''.parquet' (FORMAT parquet)`);
  await query(home, `COPY (FROM ${rows}) TO '${home}/a1b''.parquet' (FORMAT parquet)`);
  expect(
    (await idv(["emails", "a[1]*'.parquet", "-q", "-o", "o.parquet", "--drop", "ok"], { home })).code,
  ).toBe(0);
  expect(await query(home, "FROM 'o.parquet'")).toEqual([
    ["a\n\0", bad, "disposable"],
    ["", bad, "disposable"],
  ]);
});

test.each([
  [
    "cut off",
    (file: Buffer) => file.subarray(0, 300),
    "l.parquet",
    6,
    "l.parquet: cannot be read as Parquet: ",
  ],
  [
    "of other bytes",
    () => Buffer.from("PAR1 hello"),
    "l.parquet",
    6,
    "l.parquet: cannot be read as Parquet: ",
  ],
  [
    "with a broken footer",
    (file: Buffer) =>
      Buffer.from(file.toString("latin1").replace(/.{60}(?=.{8}$)/s, "x".repeat(60)), "latin1"),
    "l.parquet",
    6,
    "l.parquet: cannot be read as Parquet: ",
  ],
  [
    "in gzip",
    (file: Buffer) => gzipSync(file),
    "l.parquet.gz",
    2,
    "a Parquet file inside another file; unpack it first\n",
  ],
])("a Parquet file %s is refused in one line", async (_, change, name, code, message) => {
  const source = await folderWithList();
  const home = folderOf({ [name]: change(readFileSync(join(source, "l.parquet"))) });
  const found = await idv(["emails", name, "-q", "-o", "o.parquet"], { home });
  expect(found.code, found.stderr).toBe(code);
  expect(found.stderr).toContain(message);
  expect(found.stderr.trimEnd()).not.toContain("\n");
  expect(existsSync(join(home, "o.parquet"))).toBe(false);
  expect(leftBehind()).toEqual([]);
});

test.each([
  [["--sheet", "S"], "l.parquet: --sheet is for spreadsheet files, and this is a Parquet file"],
  [["--encoding", "latin1"], "l.parquet: --encoding is for text, and this is a Parquet file"],
  [
    ["--output-encoding", "latin1"],
    "o.parquet: --output-encoding is for text; leave it out for a Parquet file",
  ],
  [["--format", "csv"], "o.parquet: --format is for text; leave it out for a Parquet file"],
])("%j is refused with a Parquet file", async (options, message) => {
  const home = await folderWithList();
  const { code, stderr } = await idv(["emails", "l.parquet", "-o", "o.parquet", ...options], { home });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

/** Writes 60,000 rows in 30 row groups, compressed so that damage is noticed. */
async function bigList(home: string, path: string): Promise<void> {
  const rows = `SELECT 'user.' || hash(i) % 1000 || '.' || i || '@larch-and-oak.com' AS email FROM range(60000) AS list(i)`;
  await query(
    home,
    `COPY (${rows}) TO '${home}/${path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`,
  );
}

test.each(["o.csv", "o.parquet", "o.jsonl"])(
  "a file that is damaged in its middle does not become a shorter %s",
  async (output) => {
    const home = temporaryFolder();
    await bigList(home, "l.parquet");
    const bytes = readFileSync(join(home, "l.parquet"));
    const middle = Math.floor(bytes.length / 2);
    bytes.fill("X", middle, middle + 200);
    writeFileSync(join(home, "l.parquet"), bytes);
    const { code, stderr } = await idv(["emails", "l.parquet", "-o", output], { home });
    expect(code).toBe(6);
    expect(stderr).toContain("l.parquet: cannot be read as Parquet: ");
    expect(existsSync(join(home, output))).toBe(false);
  },
);

test("names of folders are no columns", async () => {
  const home = folderOf({ "email=de/n=9/readme": "" });
  await query(
    home,
    `COPY (SELECT '${ok}' AS email, 1 AS n) TO '${home}/email=de/n=9/l.parquet' (FORMAT parquet)`,
  );
  const { code, stderr } = await idv(["emails", "-I", "email=de/n=9/l.parquet"], { home });
  expect(code, stderr).toBe(0);
  const rows = await query(
    home,
    "SELECT *, typeof(n) FROM read_parquet('email=de/n=9/l.parquet', hive_partitioning = false)",
  );
  expect(rows).toEqual([[ok, "1", "ok", "INTEGER"]]);
});

test.each([
  ["sep=;"],
  ["BEGIN:VCARD"],
  ["dn: x"],
  ["%PDF-1.4"],
  ["<html>"],
  ["\ufeffemail"],
  ["is kept"],
  ["added 0"],
  ["column0"],
])("a column may have the name %j", async (column) => {
  const home = temporaryFolder();
  const rows = `(VALUES ('Report 2026', NULL), ('id', 'email'), ('1', '${ok}')) AS list("${column}", mail)`;
  await query(home, `COPY (FROM ${rows}) TO '${home}/l.parquet' (FORMAT parquet)`);
  const { code, stderr } = await idv(["emails", "l.parquet", "-c", "2", "-o", "o.parquet"], { home });
  expect(code, stderr).toBe(0);
  expect(await query(home, "FROM 'o.parquet'")).toEqual([
    ["Report 2026", null, null],
    ["id", "email", null],
    ["1", ok, "ok"],
  ]);
});

test("a file may have more than a thousand columns, and metadata that is no text", async () => {
  const home = temporaryFolder();
  const more = Array.from({ length: 1200 }, (_, i) => `${i} AS c${i}`);
  await query(
    home,
    `COPY (SELECT '${ok}' AS email, ${more}) TO '${home}/l.parquet' (FORMAT parquet, KV_METADATA {bin: '\\xFF\\xFE'::BLOB})`,
  );
  const { code, stderr } = await idv(["emails", "l.parquet", "-o", "o.parquet"], { home });
  expect(code, stderr).toBe(0);
  expect(await query(home, "SELECT email, c1199, status FROM 'o.parquet'")).toEqual([[ok, "1199", "ok"]]);
  expect(await query(home, "SELECT hex(value) FROM parquet_kv_metadata('o.parquet')")).toEqual([["FFFE"]]);
});

test.each([["--skip-lines", "1"], ["--no-headers"]])(
  "%s is refused for a file that names its columns",
  async (...option) => {
    const home = await folderWithList();
    const { code, stderr } = await idv(["emails", "l.parquet", ...option], { home });
    expect(code).toBe(2);
    expect(stderr).toContain(`l.parquet: ${option[0]} is for text, and this is a Parquet file`);
  },
);

test("a Parquet file is not compressed once more", async () => {
  const home = folderOf({ "l.csv": `email\n${ok}\n` });
  const { code, stderr } = await idv(["emails", "l.csv", "-o", "o.parquet.gz"], { home });
  expect(code).toBe(2);
  expect(stderr).toContain("o.parquet.gz: a Parquet file is compressed inside; name it .parquet");
});

test("a missing temporary folder, and a NUL in a name", async () => {
  const home = folderOf({ "l.csv": `email,a\0b\n${ok},1\n` });
  const args = ["emails", "l.csv", "-o", "o.parquet"];
  const { code, stderr } = await idv(args, { home, env: { TMPDIR: join(home, "none") } });
  expect(code).toBe(6);
  expect(stderr).toContain(
    `temporary folder ${join(home, "none")}: cannot be written: the folder does not exist`,
  );
  expect((await idv(args, { home })).code).toBe(0);
});
