/** Covers the shapes of files that other programs export: what is read, what is written, and what is refused. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { zip } from "../../support/workbooks.js";

const utf8 = (binary: string) => Buffer.from(binary, "latin1").toString();

/** Runs a command on a file in a new folder, and returns its outcome and the files that are there afterwards. */
async function run(name: string, content: string | Uint8Array, ...args: string[]) {
  const home = temporaryFolder();
  writeFileSync(join(home, name), content);
  const { code, stdout, stderr } = await idv([args[0] ?? "emails", name, ...args.slice(1)], { home });
  return {
    code,
    output: utf8(stdout),
    stderr,
    home,
    files: readdirSync(home).filter((file) => file !== "state"),
  };
}

describe("a file in which nothing looks like an item is refused", () => {
  test.each<[string, string, string, string | Uint8Array, string]>([
    [
      "domains given to emails",
      "emails",
      "domains.txt",
      "acme.com\nlarch-and-oak.com\nbrightmill.co.uk\n",
      "no line of domains.txt looks like an e-mail address; 3 of 3 are domains: idv domains domains.txt",
    ],
    [
      "domains with an address among them given to emails",
      "emails",
      "domains.txt",
      "acme.com\nlarch-and-oak.com\nann@willowbank.ie\n",
      "domains.txt holds few e-mail addresses; 2 of 3 are domains: idv domains domains.txt",
    ],
    [
      "names",
      "emails",
      "names.txt",
      "Ann Lee\nBob Ray\n",
      "no line of names.txt looks like an e-mail address; check the file, or name the column with -c",
    ],
    ["a table of names", "emails", "t.csv", "name,town\nAnn,Ulm\n", "no column looks like e-mail addresses"],
    [
      "an OpenDocument spreadsheet",
      "emails",
      "a.ods",
      zip({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>" }),
      "a.ods: an OpenDocument file (.ods); save it as .xlsx or CSV in the program that made it",
    ],
    ["a PDF document", "emails", "a.pdf", "%PDF-1.7\n%\xe2\n", "a.pdf: a PDF document; export it as CSV"],
    [
      "an HTML page",
      "emails",
      "a.xls",
      "<html><table>",
      "a.xls: an HTML page, even if its name ends in .xls",
    ],
    ["UTF-32", "emails", "a.csv", Uint8Array.of(0xff, 0xfe, 0, 0, 97, 0, 0, 0), "a.csv: UTF-32 text"],
  ])("%s", async (_, command, name, content, message) => {
    const { code, output, stderr, files } = await run(name, content, command, "-o", "out.csv");
    expect({ code, output, files }).toEqual({ code: 2, output: "", files: [name] });
    expect(stderr).toContain(`idv: ${message}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  const people = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => `${line(i)}\n`).join("");
  const texts: readonly (readonly [string, string, string, string])[] = [
    [
      "address:password lines",
      "l.txt",
      people(4, (i) => `ann${i}@larch-and-oak.com:secret${i}`),
      'l.txt: 4 of the first 4 items are no valid e-mail addresses: "ann0@larch-and-oak.com:...", "ann1@larch-and-oak.com:...", "ann2@larch-and-oak.com:..."; if the fields are separated by ":", pass -d ":"; to go on all the same, pass --force',
    ],
    [
      "text in columns of a fixed width",
      "l.txt",
      people(2, (i) => `Ann${" B.".repeat(i)} Lee      ann${i}@larch-and-oak.com   2026-01-01`),
      "put commas or tabs between the fields, which spaces align",
    ],
    [
      "lines of a log",
      "l.txt",
      people(1200, (i) => `2026-01-01 12:00 GET /x?u=ann${i}@larch-and-oak.com HTTP/1.1 200`),
      "l.txt: 1,000 of the first 1,000 items are no valid e-mail addresses",
    ],
    [
      "another column called email",
      "l.csv",
      `id,email\n${people(500, (i) => `${i},written @ ${i}`)}`,
      'l.csv: 500 of the first 500 items in column 2 "email" are no valid e-mail addresses: "written @ 0", "written @ 1", "written @ 2"; name the column of the items with -c',
    ],
    [
      "JSON lines with such a field",
      "l.jsonl",
      people(40, (i) => `{"id":${i},"email":"ann${i} at larch-and-oak"}`),
      "l.jsonl: 40 of the first 40 items in column 2",
    ],
  ];
  test.each(texts)("%s", async (_, name, content, message) => {
    const home = temporaryFolder();
    writeFileSync(join(home, name), content);
    await setQuota(home, { limit: 10_000 });
    const { code, stderr } = await idv(["emails", name, "-I.bak"], { home });
    expect({ code, files: readdirSync(home).filter((file) => file !== "state") }).toEqual({
      code: 2,
      files: [name],
    });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toContain("secret");
    expect((await idv(["quota", "show", "--json"], { home })).stdout).toContain('"used":0');
    const column = name.endsWith("txt") ? "1" : "email";
    for (const args of [["--force"], ["-c", column]]) {
      expect((await idv(["emails", "-q", name, ...args], { home })).code).toBe(0);
    }
  });

  const invalid = people(100, (i) => `@${i}`);
  test.each<[string, string, string[]]>([
    ["only the first hundred are", `email\n${invalid}${people(900, (i) => `ann${i}@larch-and-oak.com`)}`, []],
    ["they are few", "email\nann@@x\nbob@\n", []],
    ["an earlier run has said so", `email,status\n${invalid.replaceAll("\n", ",fake\n")}`, []],
    ["that is updated", `email,status\n${invalid.replaceAll("\n", ",fake\n")}`, ["--update"]],
  ])("unless %s", async (_, content, args) => {
    expect((await run("l.csv", content, "emails", ...args)).code).toBe(0);
  });

  test("JSON in a cell is read as in JSON lines", async () => {
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const cells = [
      '{"id":1,"email":"ann@larch-and-oak.com"}',
      '["b@mailinator.com","c@larch-and-oak.com"]',
      "{}",
    ];
    const content = `id,contact_info\n${cells.map((text, i) => `${i},${cell(text)}\n`).join("")}`;
    for (const args of [[], ["--explain"]]) {
      const { code, output } = await run(
        "l.csv",
        content,
        "emails",
        "-o",
        "out.csv",
        "--set",
        "statusColumn=s",
        ...args,
      );
      expect({ code, output }).toEqual({ code: 0, output: "" });
    }
    const { output } = await run("l.csv", content, "emails");
    expect(
      output
        .split("\n")
        .slice(1, 4)
        .map((line) => line.split(",").at(-1)),
    ).toEqual(["ok", "disposable", ""]);
  });

  test.each<[string, string]>([
    ["has a known name", "email\nasdf\n"],
    ["is blank so far", "id,email\n1,\n"],
  ])("unless the column %s", async (_, content) => {
    expect((await run("l.csv", content)).code).toBe(0);
  });
});

describe("lines above the table are copied unchanged", () => {
  test.each<[string, string, string, string[]?]>([
    [
      "LinkedIn's notes",
      'Notes:\n"You may notice, that some are missing"\n\nFirst Name,Last Name,Email Address\nAnn,Lee,ann@larch-and-oak.com\nBob,Ray,\n',
      'Notes:\n"You may notice, that some are missing"\n\nFirst Name,Last Name,Email Address,status\nAnn,Lee,ann@larch-and-oak.com,ok\nBob,Ray,,\n',
    ],
    [
      "sep=",
      "sep=;\r\nid;email\r\n1;ann@larch-and-oak.com\r\n",
      "sep=;\r\nid;email;status\r\n1;ann@larch-and-oak.com;ok\r\n",
    ],
  ])("%s", async (_, content, expected, args = []) => {
    const { code, output, stderr } = await run("l.csv", content, "emails", ...args);
    expect({ code, output }, stderr).toEqual({ code: 0, output: expected });
  });

  test("and bad rows are counted from the first line of the file", async () => {
    const { code, stderr } = await run("l.csv", "Title\n\nid,email\n1,ann@larch-and-oak.com\n1,2,3\n");
    expect(code).toBe(6);
    expect(stderr).toContain("l.csv:5: 3 fields where the header has 2");
  });

  test("but --skip-lines is refused if the file has fewer lines", async () => {
    const { code, stderr } = await run("l.csv", "a\nb\n", "emails", "--skip-lines", "3");
    expect(code).toBe(2);
    expect(stderr).toContain("l.csv: --skip-lines 3 is more than the 2 lines at its start; give fewer");
  });
});

describe("a field", () => {
  describe("with an item that is ok and one that is not", () => {
    const table =
      "email,second\nann@larch-and-oak.com; b@mailinator.com,\nb@mailinator.com,c@larch-and-oak.com\nfoo@,\nd@larch-and-oak.com,x@mailinator.com\n";
    const both = ["-c", "email", "-c", "second"];
    const said = (count: string, lines: string) =>
      `${count} left out or bad for one item though another is ok or alias (${lines}); --set cell=best keeps them`;

    test("appears in the summary if its row is left out or fails the run", async () => {
      const one = await run("l.csv", table, "emails", "-c", "email", "--drop", "disposable,fake");
      expect(one.output.split("\n")).toHaveLength(3);
      expect(one.stderr).toContain(said("1 row is", "line 2"));
      const two = await run("l.csv", table, "emails", ...both, "--drop", "disposable,fake");
      expect(two.stderr).toContain(said("2 rows are", "lines 2, 3"));
      const failing = await run("l.csv", table, "emails", ...both, "--fail-on", "disposable");
      expect(failing.code).toBe(1);
      expect(failing.stderr).toContain(said("2 rows are", "lines 2, 3"));
      const kept = await run("l.csv", table, "emails", ...both);
      expect(kept.stderr).not.toContain("left out");
      const onlyBad = await run("l.csv", table, "emails", ...both, "--only", "fake");
      expect(onlyBad.stderr).not.toContain("left out");
    });

    test("appears in JSON and in the report", async () => {
      const args = ["--drop", "disposable", "--log", "json", "--report", "r.html"];
      const { stderr, home } = await run("l.csv", table, "emails", ...both, ...args);
      expect(JSON.parse(stderr.trim().split("\n").at(-1)!)).toMatchObject({
        outvoted: { count: 2, lines: [2, 3] },
      });
      expect(readFileSync(join(home, "r.html"), "utf8")).toContain(
        "2 for one entry, though another is ok or alias; first lines: 2, 3",
      );
    });
  });

  test("with a word for no item, such as n/a, counts as empty and costs nothing", async () => {
    const { output, stderr } = await run("l.csv", "email\nn/a\nann@larch-and-oak.com\n-\nEmail\nunknown\n");
    expect(output).toBe("email,status\nn/a,\nann@larch-and-oak.com,ok\n-,\nEmail,\nunknown,\n");
    expect(stderr).toContain("4 fields count as empty: n/a, a column's name or the like (--set emptyValues)");
    expect(stderr).toContain("1 unit used");
    const own = await run("l.csv", "email\nn/a\nkeine\n", "emails", "--set", "emptyValues=keine,nichts");
    expect(own.output).toBe("email,status\nn/a,fake\nkeine,\n");
  });

  test("may stand before others in a plain list", async () => {
    const { output } = await run("l.txt", "b@mailinator.com\nann@x.org,group1;group2\nc@mailinator.com\n");
    expect(output).toBe(
      'b@mailinator.com,disposable\n"ann@x.org,group1;group2",ok\nc@mailinator.com,disposable\n',
    );
  });

  test("with bytes that are not UTF-8 is judged all the same", async () => {
    const table = Buffer.from(
      "name,email\nJos\xe9,jose@m\xfcller.de\nB,b\xe9@mailinator.com\nC,c\xe9@nowhere\n",
      "latin1",
    );
    const { output, stderr } = await run("l.csv", table, "emails", "--log", "json");
    expect(output.split("\n").map((line) => line.split(",")[2])).toEqual([
      "status",
      "ok",
      "disposable",
      "fake",
      undefined,
    ]);
    expect(JSON.parse(stderr)).toMatchObject({ notUtf8: 3 });
  });
});

describe("columns", () => {
  const contacts =
    "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value\nAnn,Work,ann@larch-and-oak.com,b@mailinator.com\nBob,,b@mailinator.com,\n";

  test("that are not chosen are named", async () => {
    const { output, stderr } = await run("l.csv", contacts);
    expect(output).toContain("Ann,Work,ann@larch-and-oak.com,b@mailinator.com,ok\n");
    expect(stderr).toContain('in column 3 "E-mail 1 - Value"');
    expect(stderr).toContain('not validated: 4 "E-mail 2 - Value"; -c "*" does');
  });

  test.each([
    ["all", ["-c", "*"]],
    ["named", ["-c", "3", "-c", "E-mail 2 - Value"]],
  ])("get a status each if they are %s, and each item is charged once", async (_, args) => {
    const { code, output, stderr } = await run("l.csv", contacts, "emails", ...args);
    expect({ code, output }, stderr).toEqual({
      code: 0,
      output:
        "Name,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value,status,status_E-mail 2 - Value\n" +
        "Ann,Work,ann@larch-and-oak.com,b@mailinator.com,ok,disposable\nBob,,b@mailinator.com,,disposable,\n",
    });
    expect(stderr).toContain("2 units used");
    expect(stderr).toContain('column "E-mail 2 - Value":\n  disposable');
  });

  test("may be inside of objects in JSON Lines", async () => {
    const line = '{"id":1,"user":{"email":"b@mailinator.com","tags":["x"]}}\n';
    for (const args of [["-c", "user.email"], []]) {
      const { code, output, stderr } = await run("l.jsonl", line, "emails", ...args);
      expect({ code, output }, stderr).toEqual({
        code: 0,
        output: line.replace("}}", '},"status":"disposable"}'),
      });
    }
    const object = await run("l.jsonl", '{"email":{"x":"y"}}\n', "emails", "-c", "email");
    expect(object.output).toBe('{"email":{"x":"y"},"status":""}\n');
  });
});

describe("--update", () => {
  test("does not take a column of somebody else's for ours", async () => {
    const { output } = await run("l.csv", "email,status\nb@mailinator.com,active\n", "emails", "--update");
    expect(output).toBe("email,status,idv_status\nb@mailinator.com,active,disposable\n");
  });

  test.each([[[]], [["-c", "email"]]])(
    "keeps statuses of a service where the first is missing, with %j",
    async (words) => {
      const lines = ["", "alias", "catch-all"].map(
        (status, i) => `{"email":"u${i}@gmial.com","status":"${status}"}\n`,
      );
      const text = lines.join("");
      const { code, output, stderr } = await run("l.jsonl", text, "emails", "--update", ...words);
      expect({ code, output }, stderr).toEqual({ code: 0, output: text.replace('""', '"fake"') });
    },
  );
});

describe("a spreadsheet file", () => {
  test.each([
    [["--quote", "'"], "id,email,note\n1,ann@larch-and-oak.com,'a,b \"c''d'\n"],
    [["--quote", '"\\'], 'id,email,note\n1,ann@larch-and-oak.com,"a,b \\"c\'d"\n'],
  ])("holds the fields of a table with other quotes %j", async (args, table) => {
    const home = temporaryFolder();
    writeFileSync(join(home, "l.csv"), table);
    expect((await idv(["emails", "l.csv", "-o", "o.xlsx", ...args], { home })).code).toBe(0);
    expect((await readXlsx(readFileSync(join(home, "o.xlsx")))).sheets[0]?.rows).toEqual([
      ["id", "email", "note", "status"],
      ["1", "ann@larch-and-oak.com", "a,b \"c'd", "ok"],
    ]);
  });
});
