/** Covers runs over JSON documents: whatever the options, the document comes back as it was, with members more. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { idvProcess } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const ok = "ann@larch-and-oak.com";
const bad = "b@mailinator.com";
const typo = "cat@gmial.com";

const pretty = `{
  "total": 12345678901234567890.10,
  "users": [
    {
      "id": 1,
      "email": "${ok}",
      "x": { "a": [1.0, "\\u0041"] }
    },
    null,
    { "id": 2, "email": "${bad}" },
    {"id":3,"email":"${typo}","email":"${typo}"}
  ],
  "next": [1, 2]
}
`;
const added = pretty
  .replace('"\\u0041"] }\n', '"\\u0041"] },\n      "status": "ok"\n')
  .replace(`"${bad}"`, `"${bad}", "status": "disposable"`)
  .replace(`"email":"${typo}"}`, `"email":"${typo}","status":"fake"}`);

async function emails(document: string, args: readonly string[] = [], output = "o.json") {
  const home = folderOf({ "d.json": document });
  const { code, stderr } = await idv(["emails", "d.json", "-o", output, "-q", ...args], { home });
  return { code, stderr, home, output: code === 0 ? readFileSync(join(home, output), "utf8") : undefined };
}

describe("a document", () => {
  test("comes back with a member more in each record, in its layout", async () => {
    const { output, stderr } = await emails(pretty);
    expect(output, stderr).toBe(added);
    expect((await emails(added, ["--update"])).output).toBe(added);
  });

  test.each<[string, string[], string]>([
    ["--only ok", ["--only", "ok"], added.replace(/,\s*\{ "id": 2.*\n.*/, "")],
    ["--drop ok", ["--drop", "ok"], added.replace(/\{\s*"id": 1[\s\S]*?\},\s*null/, "null")],
    ["--only alias", ["--only", "alias"], added.replace(/\{\s*"id": 1[\s\S]*?\},\s*null,[^\]]*\n {2}\]/, "null\n  ]")],
  ])("loses what %s takes out, with a comma each", async (_, args, expected) => {
    const { output, stderr } = await emails(pretty, args);
    expect(output, stderr).toBe(expected);
    JSON.parse(output!);
  });

  test("keeps only the first record of an item with --dedupe", async () => {
    const { output } = await emails(`[{"e":"${ok}"} , {"e":"${bad}"}\n,{"e":"${ok}"},{"e":"${bad}"} ]`, ["--dedupe"]);
    expect(output).toBe(`[{"e":"${ok}","status":"ok"} , {"e":"${bad}","status":"disposable"} ]`);
  });

  test("loses the first record of a second list with its comma", async () => {
    const two = (b: string) => `{"a":[{"e":"${ok}"STATUS}],"b":[${b}{"e":"${ok}"STATUS}]}`;
    const document = two(`{"e":"${bad}"} , `).replaceAll("STATUS", "");
    const { output } = await emails(document, ["-c", "a.e", "-c", "b.e", "--drop", "disposable"]);
    expect(output).toBe(two("").replaceAll("STATUS", ',"status":"ok"'));
  });

  test("splits into documents with the same frame", async () => {
    const home = folderOf({ "d.json": pretty });
    expect(await idv(["emails", "d.json", "-q", "--split", "s"], { home })).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(join(home, "s"))).toEqual(["disposable.json", "fake.json", "ok.json"]);
    const read = (name: string) => readFileSync(join(home, "s", name), "utf8");
    expect(read("ok.json")).toBe(added.replace(/,\s*null,[^\]]*(?=\n {2}\])/, ""));
    for (const name of ["disposable", "fake"]) {
      const users = [expect.objectContaining({ status: name })];
      expect(JSON.parse(read(`${name}.json`))).toEqual({ total: expect.any(Number), users, next: [1, 2] });
    }
    const stderr = expect.stringContaining("s/ok.json: has the rows of another run");
    expect(await idv(["emails", "d.json", "-q", "--split", "s"], { home })).toMatchObject({ code: 2, stderr });
  });

  test("stays a document in each of its shards", async () => {
    const users = Array.from({ length: 40 }, (_, n) => ({ email: `user${n}@larch-and-oak.com` }));
    const document = JSON.stringify({ n: 1, users: [...users, null], m: [] });
    const found: string[] = [];
    for (const shard of ["1/3", "2/3", "3/3"]) {
      const { users, ...frame } = JSON.parse((await emails(document, ["--shard", shard])).output!);
      expect(frame).toEqual({ n: 1, m: [] });
      found.push(...users.map((user: { email: string } | null) => user?.email));
    }
    expect(found.sort()).toEqual([...users.map(({ email }) => email), undefined].sort());
  });

  test("changes in place with -I, compressed as it was, and leaves a backup", async () => {
    const home = folderOf({ "d.json.gz": gzipSync(pretty) });
    expect((await idv(["emails", "d.json.gz", "-I.bak", "-q"], { home })).code).toBe(0);
    const read = (name: string) => gunzipSync(readFileSync(join(home, name))).toString();
    expect([read("d.json.gz"), read("d.json.gz.bak")]).toEqual([added, pretty]);
    expect((await idv(["emails", "d.json.gz", "-I", "--update", "-q"], { home })).code).toBe(0);
    expect(read("d.json.gz")).toBe(added);
  });

  test("comes from standard input and goes to standard output", async () => {
    expect(await idv(["emails", "-q"], { stdin: pretty })).toMatchObject({ code: 0, stdout: added });
    const line = `{"users":[{"email":"${ok}"},{"email":"${bad}"}]}\n`;
    const judged = `{"users":[{"email":"${ok}","status":"ok"},{"email":"${bad}","status":"disposable"}]}\n`;
    for (const args of [[], ["-c", "users.email"]])
      expect((await idv(["emails", "-q", ...args], { stdin: line })).stdout).toBe(judged);
    expect((await emails(line)).output).toBe(judged);
  });

  test.each<[string, string, number]>([
    ["a page", `{"page":1,"data":[{"email":"${ok}"},{"email":"${bad}"}]}`, 2],
    ["values below a header", `{"values":[["id","email"],["1","${ok}"],["2","${bad}"]]}`, 2],
    ["a graph", `{"@context":"x","@graph":[{"mbox":"${ok}"},{"mbox":"${bad}"}]}`, 2],
    ["one record", `{"email":"${ok}","tags":["a","b"]}`, 1],
    ["a record with a list of texts", `{"id":1,"emails":["${ok}","${bad}"]}`, 1],
  ])("on one line of standard input is %s, whatever its white space", async (_, text, rows) => {
    const { stderr } = await idv(["emails", "--log", "json"], { stdin: `${text}\n` });
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!)).toMatchObject({ rows });
  });

  test("on one line, with an item beside its list, is refused until -c tells which are meant", async () => {
    const stdin = `{"support":"help@larch-and-oak.com","data":[{"email":"${ok}"},{"email":"${bad}"}]}`;
    const run = (...args: string[]) => idv(["emails", "-q", ...args], { stdin });
    expect(await run()).toEqual({
      ...{ code: 2, stdout: "" },
      stderr:
        'idv: standard input: e-mail addresses are both in a record and in a list inside it: "support", "data.email" (2); choose one with -c\n',
    });
    const statuses = async (column: string) => (await run("-c", column)).stdout.match(/(?<="status":")\w+/g);
    expect(await statuses("support")).toEqual(["ok"]);
    expect(await statuses("data.email")).toEqual(["ok", "disposable"]);
  });

  const people = { [ok]: { name: "Ann" }, [bad]: { name: "Bob" } };
  const asColumns = "an object of columns, each with its values by row";
  const asNames = (where = "") => `the e-mail addresses are names of members${where}; write them into records`;
  test.each<[string, unknown, string]>([
    ["columns by row", { email: { 0: ok, 1: bad }, name: { 0: "Ann", 1: "Bob" } }, asColumns],
    ["one column by row", { email: { 0: ok, 1: bad } }, asColumns],
    ["in another object", { result: { email: { 0: ok, 1: bad }, name: { 0: "Ann", 1: "Bob" } } }, asColumns],
    ["columns as lists", { email: [ok, bad], name: ["Ann", "Bob"] }, asColumns],
    ["columns by name", { email: { a: ok, b: bad }, name: { a: "Ann", b: "Bob" } }, asColumns],
    ["items as names", people, asNames()],
    ["items as names in a member", { users: people }, asNames(' in "users"')],
    ["with other items", { users: { [ok]: { b: "z@b.net" }, [bad]: { b: "y@b.net" } } }, asNames(' in "users"')],
    ["in a list", [{ [ok]: { name: "Ann" } }, { [bad]: { name: "Bob" } }], asNames()],
    ["deeper", { n: 1, a: { users: { [ok]: 1, [bad]: 2 } } }, asNames(' in "a.users"')],
  ])("is refused if it holds %s", async (_, value, message) => {
    const stderr = expect.stringContaining(message);
    for (const stdin of [JSON.stringify(value), JSON.stringify(value, null, 2)])
      expect(await idv(["emails"], { stdin })).toMatchObject({ code: 2, stderr });
  });

  test("can hold records by their names", async () => {
    const value = { ann: { email: ok, n: 1 }, bob: { email: bad, n: 2 } };
    const { code, stdout } = await idv(["emails", "-q"], { stdin: JSON.stringify(value, null, 1) });
    expect([code, stdout.match(/"status"/g)]).toEqual([0, ['"status"', '"status"']]);
  });

  test("can be one of several files, and an item in two is charged once", async () => {
    const home = folderOf({ "a.json": `[{"email":"${ok}"},{"email":"${bad}"}]`, "b.csv": `email\n${bad}\n` });
    expect((await idv(["emails", "a.json", "b.csv", "-q", "-o", "o/"], { home })).code).toBe(0);
    expect(readdirSync(join(home, "o"))).toEqual(["a.json", "b.csv"]);
    expect((await readQuota(home)).used).toBe(2);
  });

  test("costs nothing with --dry-run, and gets reasons with --explain", async () => {
    const home = folderOf({ "d.json": pretty });
    expect((await idv(["emails", "d.json", "--dry-run"], { home })).stderr).toContain("3 distinct");
    expect((await readQuota(home)).used).toBe(0);
    const { output } = await emails(pretty, ["--explain", "--add", "canonical"]);
    const expected = { status: "fake", reason: "typo-domain: gmial.com", canonical: "cat@gmial.com" };
    expect(JSON.parse(output!).users[3]).toMatchObject(expected);
  });

  test("names the line of the item in annotations, and of a bad row", async () => {
    const home = folderOf({ "d.json": pretty });
    const { stdout, stderr } = await idv(["emails", "d.json", "-o", "o.json", "--log", "github"], { home });
    expect(stdout + stderr).toContain("file=d.json,line=10");
    expect(stdout + stderr).toContain("file=d.json,line=11");
    const broken = pretty.replace('"id": 2', '"id": 02').replace('"x":', '"status": "",\n "x":');
    const said = 'idv: d.json:11:13: not JSON: "02" is where a value belongs\n';
    const skipped = await emails(broken, ["--bad-rows", "skip:bad.csv"]);
    expect(skipped.stderr).toContain(said);
    expect(readFileSync(join(skipped.home, "bad.csv"), "utf8")).toContain('"{ ""id"": 02, ""email""');
    expect(JSON.parse(skipped.output!).users).toHaveLength(3);
    const failed = await emails(broken);
    expect(failed).toMatchObject({ code: 6, stderr: said });
    expect(readdirSync(failed.home)).not.toContain("o.json");
  });

  test("may have members of an earlier run that hold line breaks", async () => {
    const before = `[{"email":"${ok}","status":"","reason":[\n],"suggestion":{\n"x":1}}]`;
    const { output, stderr } = await emails(before, ["--update", "--explain"]);
    expect(output, stderr).toBe(`[{"email":"${ok}","status":"ok","reason":"","suggestion":""}]`);
  });

  test("needs -c for lists that begin after its first 16 MiB", async () => {
    // It is read on to 20 MiB.
    const home = folderOf({ "d.json": `{"a":[{"e":"${ok}"}],${" ".repeat(22_000_000)}"b":[{"m":"${bad}"}]}` });
    const remark = "d.json: lists that begin after the first 16 MiB are not detected; name them with -c\n";
    // The built program reads so many bytes in half of the time.
    const args = ["emails", "d.json", "-o", "o.json"];
    expect((await idvProcess(args, { home })).stderr).toContain(remark);
    const named = await idvProcess([...args, "-c", "a.e", "-c", "b.m"], { home });
    expect(named.stderr).not.toContain(remark);
    expect(named.stderr).toContain("2 rows, 2 distinct");
  });

  test("cannot follow another document in a file of --split", async () => {
    const home = folderOf({ "a.json": `[{"e":"${ok}"}]`, "b.json": `[{"e":"${ok}"},{"e":"${bad}"}]` });
    const stderr = expect.stringContaining("idv: s/ok.json: cannot append to a JSON document");
    expect(await idv(["emails", "a.json", "b.json", "-q", "--split", "s"], { home })).toMatchObject({
      code: 2,
      stderr,
    });
    expect((await readQuota(home)).used).toBe(1);
  });

  test.each(["jsonl", "csv", "json", "tsv"])("becomes a .%s.gz that gzip can read", async (ending) => {
    const { home } = await emails(pretty, [], `o.${ending}.gz`);
    const { output } = await emails(pretty, [], `o.${ending}`);
    expect(gunzipSync(readFileSync(join(home, `o.${ending}.gz`))).toString()).toBe(output);
  });

  test("adds a count of elements that are no records to the summary", async () => {
    const home = folderOf({ "d.json": pretty });
    const { stderr } = await idv(["emails", "d.json", "-o", "o.json"], { home });
    expect(stderr).toContain('3 rows, 3 distinct e-mail addresses in column 2 "users.email"');
    expect(stderr).toContain("1 element of the document is not a record and has no status\n");
    const json = await idv(["emails", "d.json", "-o", "o.json", "--log", "json"], { home });
    expect(JSON.parse(json.stderr.trim())).toMatchObject({ inputs: [{ otherElements: 1 }], badRows: 0 });
  });
});

/** Documents, with what is added to them between « and », and what is taken out of them between ‹ and ›. */
const marked: [string, string, string[]?][] = [
  ["a list of texts", `[«{"email":»"${ok}"«,"status":"ok"}»,\n «{"email":»"${bad}"«,"status":"disposable"}», 1]`],
  ["a map", `{‹"a":{"e":"${ok}"},\n›"b":{"e":"${bad}"«,"status":"disposable"»}}`, ["--drop", "ok"]],
  ["values one after another", `‹{"e":"${ok}"\n}\n›{"e":"${bad}"«,"status":"disposable"»\n}\n`, ["--drop", "ok"]],
  ["white space before all", `\n \n‹{"e":"${ok}"\n}›{"e":"${bad}"«,"status":"disposable"»}`, ["--drop", "ok"]],
  ["members that are objects", `{"Items":[{"email":{"S":"${ok}"}«,"status":"ok"»}]}`],
  ["an empty map", '{"users":{}}'],
  ["a list of nulls", "[null]"],
  ["a text sequence", `\x1e{"e":"${ok}"«,"status":"ok"»}\n\x1e{"e":"${bad}"«,"status":"disposable"»}\n`],
  ["an empty list", '{"users": [ ]}\n'],
  ["lines in a .json file", `{"e":"${ok}"«,"status":"ok"»}\n{"e":"${bad}"«,"status":"disposable"»}\n`],
  ["a byte order mark", `\ufeff[{"e":"${ok}"«,"status":"ok"»}]`],
  ["CRLF", `[\r\n\t{\r\n\t\t"e" : "${ok}"«,\r\n\t\t"status" : "ok"»\r\n\t}\r\n]\r\n`],
  ["a status of the user's", `[{"e":"${ok}","status":7«,"idv_status":"ok"»}]`],
  ["a list inside a record", `[{"l":[{"e":"${ok}"},\n{"e":"${bad}"}]«,"status":"disposable"»}]`, ["-c", "l.e"]],
  [
    "two lists",
    `{"a":[{"e":"${ok}"«,"status":"ok"»}],"b":{"c":[{"m":"${bad}"«,"status":"disposable"»}]}}`,
    ["-c", "a.e", "-c", "b.c.m"],
  ],
];
test.each(marked)("%s comes back as it was", async (_, text, args) => {
  const { output, stderr } = await emails(text.replace(/«.*?»/gs, "").replace(/[‹›]/g, ""), args);
  expect(output, stderr).toBe(text.replace(/‹.*?›/gs, "").replace(/[«»]/g, ""));
});

const nameExpected = "is where a name in double quotes or a } belongs";
const columnMissing =
  'no column "users.mail" (did you mean "users.email"?); the columns are 1 "users", 2 "users.email"';
const twoLists = '2 lists hold e-mail addresses: "a.e" (1), "b.e" (1); choose one with -c';
test.each<[string, string, number, string, string[]?]>([
  ["ends early", `[{"email":"${ok}"},`, 6, "d.json:1:36: the document ends here, but a value is missing"],
  ["goes on", `[{"email":"${ok}"}]\n{}`, 6, 'd.json:2:1: not JSON: "{" is where the end of the document belongs'],
  ["has single quotes", `[{'email':'${ok}'}]`, 6, `d.json:1:3: not JSON: "'" ${nameExpected}`],
  ["has a comment", `/* x */ [{"email":"${ok}"}]`, 6, 'd.json:1:1: not JSON: "/*" is where a value belongs'],
  ["has no such path", `{"users":[{"email":"${ok}"}]}`, 2, columnMissing, ["-c", "users.mail"]],
  ["has two lists", `{"a":[{"e":"${ok}"}],"b":[{"e":"${bad}"},{}]}`, 2, twoLists],
  ["has unquoted names", `{users:[{email:"${ok}"}]}`, 6, `d.json:1:2: not JSON: "u" ${nameExpected}`],
  ["is read with --comment", "[]", 2, "a JSON document has no comments; leave --comment out", ["--comment", "#"]],
])("a document that %s is refused", async (_, document, code, message, args) => {
  const found = await emails(document, args);
  expect(found).toMatchObject({ code, stderr: expect.stringContaining(message) });
  expect(readdirSync(found.home)).not.toContain("o.json");
  expect((await readQuota(found.home)).used).toBe(0);
});

test.each([
  ["at the top", `{"email":"${bad}","tags":[]}`],
  ["in an inner object", `{"errors":[],"data":{"user":{"email":"${bad}"}}}`],
  ["beside an empty list", `{"customer":{"email":"${bad}","orders":[]}}`],
  ["in the only one of an object of objects", `{"users":{"u0":{"email":"${bad}","tags":[]}}}`],
])("an item %s is judged, though a list is empty", async (_, document) => {
  const { output } = await emails(document);
  expect(output).toBe(document.replace(/\}$/, ',"status":"disposable"}'));
});

test("a list that is empty has no rows, whatever contact stands beside it", async () => {
  const document = `{"meta":{"contact":"${ok}"},"users":[]}`;
  expect((await emails(document)).output).toBe(document);
});

test("a short name means the records of an object of objects, not a list in them", async () => {
  const user = (email: string, friends: string) => `{"email":"${email}","friends":[${friends}]}`;
  const document = `{"users":{"a":${user(bad, `{"email":"${ok}"}`)},"b":${user(ok, "")}}}`;
  const { output } = await emails(document, ["-c", "email", "--drop", "disposable"]);
  expect(output).toBe(`{"users":{"b":{"email":"${ok}","friends":[],"status":"ok"}}}`);
});

describe("rows that are arrays below a header", () => {
  const sheet = `{"range": "A1:C4", "values": [
    ["Name", "Email", "Note"],
    ["Ann", "${ok}", "x"],
    ["Bob", "${bad}"],
    null, [
      "Cat", "${typo}", {"a": ["]", 1.0]}
    ]
  ]}
`;
  const checked = sheet
    .replace('"Note"]', '"Note", "status"]')
    .replace('"x"]', '"x", "ok"]')
    .replace(`"${bad}"]`, `"${bad}", "", "disposable"]`)
    .replace("1.0]}", '1.0]}, "fake"');

  test("get an element more, and so does the header", async () => {
    const { output, stderr } = await emails(sheet);
    expect(output, stderr).toBe(checked);
    expect((await emails(checked, ["--update"])).output).toBe(checked);
    expect((await emails(sheet, ["-c", "values.Email"])).output).toBe(checked);
    const waiting = checked.replace('"x", "ok"', '"x", "quota_exceeded"').replace(', "disposable"]', "]");
    expect((await emails(waiting, ["--update"])).output).toBe(checked);
    expect((await emails(sheet, [], "o.csv")).output).toBe(
      `Name,Email,Note,status\nAnn,${ok},x,ok\nBob,${bad},,disposable\nCat,${typo},"{""a"": [""]"", 1.0]}",fake\n`,
    );
  });

  test("keep their header with --drop, --split and --shard", async () => {
    const header = ["Name", "Email", "Note", "status"];
    const { output } = await emails(sheet, ["--drop", "ok,fake"]);
    expect(JSON.parse(output!).values).toEqual([header, ["Bob", bad, "", "disposable"], null]);
    const home = folderOf({ "d.json": sheet });
    expect((await idv(["emails", "d.json", "-q", "--split", "s"], { home })).code).toBe(0);
    expect(JSON.parse(readFileSync(join(home, "s/ok.json"), "utf8"))).toEqual({
      range: "A1:C4",
      values: [header, ["Ann", ok, "x", "ok"]],
    });
    for (const shard of ["1/3", "2/3", "3/3"]) {
      expect(JSON.parse((await emails(sheet, ["--shard", shard])).output!).values[0]).toEqual(header);
    }
  });

  test("count as bad with more elements than the header, or without commas", async () => {
    const wide = sheet.replace('"x"]', '"x", "y"]').replace(`"Bob", `, '"Bob" ');
    expect((await emails(wide)).stderr).toBe("idv: d.json:3:5: 4 elements where the header has 3\n");
    const pretty = sheet.replace(`"${typo}",`, `"${typo}" ;`);
    expect((await emails(pretty)).stderr).toContain("d.json:6:30: not JSON");
    const kept = await emails(wide, ["--bad-rows", "keep"]);
    expect(kept.output).toBe(
      checked.replace('"x", "ok"]', '"x", "y"]').replace(`"Bob", "${bad}", "", "disposable"]`, `"Bob" "${bad}"]`),
    );
    const skipped = await emails(sheet.replace(`"Bob", `, '"Bob" '), ["--bad-rows", "skip"]);
    expect(skipped.stderr).toContain("d.json:4:12: not JSON");
  });

  test("need a header, and one list", async () => {
    expect((await emails(`[["Ann","${ok}"],["Bob","${bad}"]]`)).stderr).toContain("d.json: ");
    const two = `{"a":[["E"],["${ok}"]],"b":[["F"],["${bad}"]]}`;
    expect((await emails(two)).stderr).toContain('"a.E" (1), "b.F" (1); choose one with -c');
    expect((await emails(two, ["-c", "a.E", "-c", "b.F"])).code).toBe(2);
    expect((await emails(two, ["-c", "b.F"])).output).toBe(
      two.replace('"F"', '"F","status"').replace(`"${bad}"`, `"${bad}","disposable"`),
    );
  });

  test("may repeat names of columns, and may be beside lists of other texts", async () => {
    const same = `[["column 2","","email","Name 2","Name","Name"],["x","y","${bad}","","","z"]]`;
    expect((await emails(same)).output).toBe(
      same.replace('"Name"],', '"Name","status"],').replace('"z"', '"z","disposable"'),
    );
    const years = `{"values":[["Name","Email","2024"],["Ann","${bad}","x"]]}`;
    expect((await emails(years, ["-c", "2"])).output).toBe(
      years.replace('"2024"]', '"2024","status"]').replace('"x"]', '"x","disposable"]'),
    );
    expect((await emails(years, [], "o.csv")).output).toBe(`Name,Email,2024,status\nAnn,${bad},x,disposable\n`);
    for (const rows of [`["Ann","${ok}"],["Bob","${bad}"]`, `[],["Name","Email"],["Ann","${ok}"]`]) {
      expect((await emails(`{"values":[${rows}]}`)).code).toBe(2);
    }
    const texts = '{"modes":["ROWS","["],"values":[["email"],["ann at larch"]]}';
    expect((await emails(texts, ["--force"])).output).toBe(
      texts.replace('["email"]', '["email","status"]').replace('larch"', 'larch","fake"'),
    );
  });

  test("come back whatever is in them", async () => {
    const value = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.constantFrom('"\\u0041\\""', "1.0", '"]"', "12345678901234567890", `"${ok}"`),
    );
    const space = fc.constantFrom("", " ", "\n  ", "\r\n\t");
    const sheets = fc.record({
      header: fc.array(fc.constantFrom("A", "B", "", "status", 'q"', "e.f"), { minLength: 1, maxLength: 4 }),
      rows: fc.array(fc.record({ values: fc.array(value, { maxLength: 4 }), space, end: space }), { maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(sheets, async ({ header, rows }) => {
        const names = ["Email", ...header];
        const status = header.includes("status") ? "idv_status" : "status";
        const textOf = (isChecked: boolean) => {
          const lines = rows.map(({ values, space, end }) => {
            const row = [`"${bad}"`, ...values].slice(0, names.length);
            const pads = isChecked ? [...Array(names.length - row.length).fill('""'), '"disposable"'] : [];
            return `[${space}${[...row, ...pads].join(`,${space}`)}${end}]`;
          });
          const first = JSON.stringify(isChecked ? [...names, status] : names);
          return `[${[first, `["${ok}"${isChecked ? `${',""'.repeat(header.length)},"ok"` : ""}]`, ...lines].join(", ")}]`;
        };
        const { output, stderr } = await emails(textOf(false), ["-c", "1"]);
        expect(output, stderr).toBe(textOf(true));
      }),
      { numRuns: times(60) },
    );
  });
});

describe("a document on one line that is longer than the sample", () => {
  const items = Array.from({ length: 4000 }, (_, i) => ({ id: i, email: `u${i}@larch-and-oak.com`, name: "Lee" }));
  const shapes: Readonly<Record<string, unknown>> = {
    "a list of objects": items,
    "a list of texts": items.map(({ email }) => email),
    "a list of arrays": [["id", "email"], ...items.map(({ id, email }) => [id, email])],
    "a list in an object": { total: 4000, users: items },
    "a list deep in an object": { data: { page: { users: items } } },
    "members by their names": Object.fromEntries(items.map((item) => [`k${item.id}`, item])),
  };
  const writers: Readonly<Record<string, (value: unknown) => string>> = {
    "without spaces": (value) => JSON.stringify(value),
    // As Python writes it. No text of the shapes holds a comma or a colon.
    "with spaces": (value) => JSON.stringify(value).replaceAll(",", ", ").replaceAll(":", ": "),
    "with spaces everywhere": (value) => JSON.stringify(value).replace(/[[{\]},:]/g, (sign) => ` ${sign} `),
  };
  const cases = Object.keys(shapes).flatMap((shape) => Object.keys(writers).map((writer) => [shape, writer]));
  test.each(cases)("gets a status in each record: %s, %s", async (shape, writer) => {
    const home = folderOf({ "d.json": writers[writer!]!(shapes[shape!]) });
    const { code, stderr } = await idv(["emails", "d.json", "-o", "o.json", "--log", "json"], { home });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!)).toMatchObject({
      ...{ rows: 4000, distinct: 4000, statuses: { ok: 4000 }, failed: 0 },
    });
    expect(JSON.stringify(JSON.parse(readFileSync(join(home, "o.json"), "utf8"))).match(/"ok"/g)).toHaveLength(4000);
  });
});

test("a list most of whose elements are no records is refused", async () => {
  const home = folderOf({ "d.json": '[{"email":"ann@larch-and-oak.com"},"x@mailinator.com","y@mailinator.com"]' });
  const run = (...words: string[]) => idv(["emails", "d.json", "-q", "-o", "o.json", ...words], { home });
  const why = "d.json: only 1 of the 3 elements of its list are records; make all elements records, or pass --force";
  expect(await run()).toMatchObject({ code: 2, stderr: `idv: ${why}\n` });
  expect((await run("--force")).code).toBe(0);
});

test("statuses that share a file of --split are in one document", async () => {
  const statuses = [...Array<string>(300).fill("ok"), "a/b", "a:b", "a_b", "a/b"];
  const rows = statuses.map((status, i) => ({ email: `u${i}@larch-and-oak.com`, status }));
  const home = folderOf({ "d.json": JSON.stringify(rows) });
  expect((await idv(["emails", "d.json", "-q", "--update", "--split", "s"], { home })).code).toBe(0);
  expect(JSON.parse(readFileSync(join(home, "s/a_b.json"), "utf8"))).toEqual(rows.slice(300));
});
