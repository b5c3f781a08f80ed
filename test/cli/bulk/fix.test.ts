/** Covers --fix: mistyped items are replaced in every format, and their rows keep everything else. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

async function fixed(name: string, text: string, ...args: string[]) {
  const home = temporaryFolder();
  writeFileSync(join(home, name), text);
  const output = args.includes("-o") ? args[args.indexOf("-o") + 1]! : `out-${name}`;
  const { code, stderr } = await idv(["emails", name, "--offline", "-o", output, "--fix", ...args], { home });
  expect(code, stderr).toBe(0);
  return { text: readFileSync(join(home, output), "utf8"), stderr };
}

describe("writes what was meant, and the old value into the column was", () => {
  const cases: [name: string, input: string, output: string, args?: string[]][] = [
    [
      "list.csv",
      "id,email,note\r\n1,bob.smith@gmial.com,a\r\n2,x@mailinator.com,b\r\n3,bob.smith@hotmial.com,c\r\n",
      "id,email,note,status,was\r\n1,bob.smith@gmail.com,a,ok,bob.smith@gmial.com\r\n2,x@mailinator.com,b,disposable,\r\n3,bob.smith@hotmail.com,c,ok,bob.smith@hotmial.com\r\n",
    ],
    [
      "quoted.csv",
      'email;n\n"Bob ""B"" <bob.smith@gmial.com>";1\n"bob.smith+x@gmial.com"\nann@larch-and-oak.com;2\n',
      'email;n;status;was\n"Bob ""B"" <bob.smith@gmail.com>";1;ok;bob.smith@gmial.com\n"bob.smith+x@gmail.com";;alias;bob.smith+x@gmial.com\nann@larch-and-oak.com;2;ok;\n',
    ],
    ["plain.txt", "bob.smith@gmial.com\nx@@\n", "bob.smith@gmail.com,ok,bob.smith@gmial.com\nx@@,fake,\n"],
    [
      "list.jsonl",
      '{"a": 1, "email": "bob.smith@gmial.com", "b": "bob.smith@gmial.com"}\n{"email": "x@mailinator.com"}\n',
      '{"a": 1, "email": "bob.smith@gmail.com", "b": "bob.smith@gmial.com", "status": "ok", "was": "bob.smith@gmial.com"}\n{"email": "x@mailinator.com","status": "disposable","was": ""}\n',
    ],
    [
      "list.csv",
      "email,note\nbob.smith@gmial.com,a\n",
      '{"email":"bob.smith@gmail.com","note":"a","status":"ok","was":"bob.smith@gmial.com"}\n',
      ["-o", "out.jsonl"],
    ],
    [
      "list.csv",
      "email\nbob.smith@gmial.com\n",
      "email,status,reason,suggestion,was\nbob.smith@gmail.com,ok,fixed,,bob.smith@gmial.com\n",
      ["--explain"],
    ],
    [
      // Not one edit from a large provider.
      "list.csv",
      "email\nann.lee@larch-and-oak.con\n",
      "email,status,was\nann.lee@larch-and-oak.con,fake,\n",
    ],
    [
      "list.csv",
      "email\nann.lee@larch-and-oak.con\n",
      "email,status,was\nann.lee@larch-and-oak.com,ok,ann.lee@larch-and-oak.con\n",
      ["--fix=all"],
    ],
    [
      // Rows that are left out.
      "list.csv",
      "email\nx@mailinator.com\nbob.smith@gmial.com\nx@@\n",
      "email,status,was\nbob.smith@gmail.com,ok,bob.smith@gmial.com\n",
      ["--only", "ok"],
    ],
  ];
  test.each(cases)("%s %s", async (name, input, output, args = []) => {
    expect((await fixed(name, input, ...args)).text).toBe(output);
  });
});

describe("repairs the item where it is", () => {
  const typo = "robert.smith@gmial.com";
  const meant = "robert.smith@gmail.com";

  test.each<[string, string, string]>([
    [
      "not the same text in another column",
      `id,note,email\n1,old: ${typo},${typo}\n`,
      `1,old: ${typo},${meant},ok,${typo}`,
    ],
    ["and the name that is the address", `email\n${typo} <${typo}>\n`, `${meant} <${meant}>,ok,${typo}`],
    [
      "and another address before it, which is an item, too",
      `email,n\n"x${typo} <${typo}>",1\n`,
      `"x${meant} <${meant}>",1,ok,x${typo}; ${typo}`,
    ],
    [
      "in a cell with two",
      `email,n\n"${typo}; ann@larch-and-oak.com",1\n`,
      `"${meant}; ann@larch-and-oak.com",1,ok,${typo}`,
    ],
    [
      "twice in a cell",
      `email,n\n"${typo}; B <bob.stone@hotmial.com>",1\n`,
      `"${meant}; B <bob.stone@hotmail.com>",1,ok,${typo}; bob.stone@hotmial.com`,
    ],
    [
      "in a table of which another row has two",
      `email\n${typo}\nx@mailinator.com;y@larch-and-oak.com\n`,
      `${meant},ok,${typo}`,
    ],
    [
      "in JSON in a cell",
      `info\n"{""note"": ""${typo}"", ""email"": ""${typo}""}"\n`,
      `"{""note"": ""${typo}"", ""email"": ""${meant}""}",ok,${typo}`,
    ],
    [
      "in a link of HTML",
      `email\n"<a href=""mailto:${typo}"">${typo}</a>"\n`,
      `"${meant}",ok,"<a href=""mailto:${typo}"">${typo}</a>"`,
    ],
    [
      "in links side by side, after a name",
      `email\n"Ann <a href=""mailto:${typo}"">A</a><a href=""mailto:b@larch-and-oak.com"">B</a>"\n`,
      `"Ann <${meant}><b@larch-and-oak.com>",ok,"<a href=""mailto:${typo}"">A</a>; <a href=""mailto:b@larch-and-oak.com"">B</a>"`,
    ],
    [
      "unless two are in one link",
      `email\n"=HYPERLINK(""mailto:${typo},${typo}"",""x"")"\n`,
      `"=HYPERLINK(""mailto:${typo},${typo}"",""x"")",fake,`,
    ],
    ["and no word for none with marks", "email\na@larch-and-oak.com\n\u201cn/a\u201d\n", "\u201cn/a\u201d,,"],
    ["with marks around it", `email\n\u201c${typo}\u201d\n`, `${meant},ok,\u201c${typo}\u201d`],
    [
      "even if only the marks are wrong",
      "email\nann@larch-and-oak.com\u00a0\n",
      "ann@larch-and-oak.com,ok,ann@larch-and-oak.com\u00a0",
    ],
    [
      "with an apostrophe of a phone",
      "email\no\u2019hara@larch-and-oak.com\n",
      "o'hara@larch-and-oak.com,ok,o\u2019hara@larch-and-oak.com",
    ],
  ])("%s", async (_, input, row) => {
    expect((await fixed("list.csv", input, "-c", /email|info/.exec(input)![0])).text.split("\n")).toContain(row);
  });

  test("in JSON with escapes, in lists and in inner objects", async () => {
    const lines = [
      '{"note": "robert.smith@gmial.com", "email": "robert.smith\\u0040gmial.com"}',
      '{"email": ["robert.smith@gmial.com", "x@mailinator.com"]}',
    ];
    expect((await fixed("list.jsonl", `${lines.join("\n")}\n`)).text.split("\n").slice(0, 2)).toEqual([
      `{"note": "${typo}", "email": "${meant}", "status": "ok", "was": "${typo}"}`,
      `{"email": ["${meant}", "x@mailinator.com"],"status": "disposable","was": "${typo}"}`,
    ]);
    const inner = `{"users":[{"mails":[{"email":"x@larch-and-oak.com"},{"email":"${typo}"}]},{"mails":[]}]}`;
    expect((await fixed("list.json", inner, "-c", "users.mails.email")).text).toBe(
      `{"users":[{"mails":[{"email":"x@larch-and-oak.com"},{"email":"${meant}"}],"status":"ok","was":"${typo}"},{"mails":[],"status":"","was":""}]}`,
    );
  });

  test("in each of several columns", async () => {
    const input = `email,mail2\n${typo},\nann@larch-and-oak.com,${typo}\n`;
    expect((await fixed("list.csv", input, "-c", "*")).text).toBe(
      `email,mail2,status,was,status_mail2,was_mail2\n${meant},,ok,${typo},,\nann@larch-and-oak.com,${meant},ok,,ok,${typo}\n`,
    );
  });

  test("before duplicates, flags and canonical forms are looked for", async () => {
    const input = `email\n${typo}\n${meant}\n\u201c${meant}\u201d\n`;
    expect((await fixed("list.csv", input, "--dedupe", "--add", "canonical,flags")).text).toBe(
      `email,status,was,canonical,flags\n${meant},ok,${typo},robertsmith@gmail.com,free-provider\n`,
    );
  });

  test("and keeps what it was through every later run", async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, "list.csv"), `email\n${typo}\nann@larch-and-oak.com\n`);
    await idv(["emails", "list.csv", "-o", "a.csv", "--offline", "--fix"], { home });
    for (const again of [["--update"], ["--update=all"], ["--update=all", "--explain"]]) {
      const { code } = await idv(["emails", "a.csv", "-I.bak", "--offline", "--fix", "-q", ...again], { home });
      expect(code).toBe(0);
      expect(readFileSync(join(home, "a.csv"), "utf8").split("\n")[1]).toContain(typo);
    }
  });
});

test("a repaired table is the table with the items repaired, in every format and dialect", async () => {
  const typo = "robert.smith@gmial.com";
  const notes = fc.constantFrom(typo, `<${typo}>`, "plain", 'a "quote"', "x; y, z", `old: ${typo}`);
  const emails = fc.constantFrom(
    ...[typo, `R <${typo}>`, `${typo} <${typo}>`, "ann@larch-and-oak.com", `${typo}; ann@larch-and-oak.com`, ""],
  );
  const rows = fc.array(fc.tuple(notes, emails), { minLength: 1, maxLength: 6 });
  const repaired = (email: string) => email.replaceAll(typo, "robert.smith@gmail.com");
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(",", ";", "\t"), fc.boolean(), async (rows, delimiter, isJson) => {
      const input = isJson
        ? rows.map(([note, email]) => `${JSON.stringify({ note, email })}\n`).join("")
        : stringify([["note", "email"], ...rows], { delimiter });
      const name = isJson ? "list.jsonl" : "list.csv";
      const { text } = await fixed(name, input, "-c", "email", "-q", "--force", "-o", "out.json", "--format", "json");
      const found = JSON.parse(text) as { note: string; email: string; was: string }[];
      expect(found.map(({ note, email }) => [note, email])).toEqual(
        rows.map(([note, email]) => [note, repaired(email)]),
      );
      const same = await fixed(name, input, "-c", "email", "-q", "--force");
      const read = isJson
        ? same.text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as { note: string; email: string })
        : (parse(same.text, { delimiter, columns: true }) as { note: string; email: string }[]);
      expect(read.map(({ note, email }) => [note, email])).toEqual(
        rows.map(([note, email]) => [note, repaired(email)]),
      );
    }),
    { numRuns: times(40) },
  );
});

test("as many rows are fixed as the run before has said", async () => {
  const home = folderOf({
    "k.csv": "email\nx@mailinator.com; robert.smith@gmial.com\nrobert.smith@gmial.com\np@larch-and-oak.com\n",
  });
  expect((await idv(["emails", "k.csv"], { home })).stderr).toContain(
    "2 rows with a mistyped domain; --fix repairs them\n",
  );
  expect((await idv(["emails", "k.csv", "--fix"], { home })).stderr).toContain(
    "2 rows fixed; the column was has the old values\n",
  );
});

test("the rest of a large list stays as it is, whatever thread has written it", async () => {
  const row = (i: number) => `${i},person.${i}@${i % 997 === 5 ? "gmial.com" : "larch-and-oak.com"},note ${i}`;
  const rows = Array.from({ length: 60_000 }, (_, i) => row(i));
  const { text, stderr } = await fixed("list.csv", `n,email,note\n${rows.join("\n")}\n`);
  const expected = rows.map((row) => {
    const [, email] = row.split(",") as [string, string];
    const isTypo = email.endsWith("gmial.com");
    return `${isTypo ? row.replace("gmial.com", "gmail.com") : row},ok,${isTypo ? email : ""}`;
  });
  expect(text).toBe(`n,email,note,status,was\n${expected.join("\n")}\n`);
  expect(stderr).toContain("61 rows fixed; the column was has the old values");
});

test("a replaced file needs a backup, and a service gives no suggestions that could be trusted", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "list.csv"), "email\nbob.smith@gmial.com\n");
  const refused = await idv(["emails", "list.csv", "-I", "--fix", "--offline"], { home });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("needs a backup: -I.bak") });
  expect((await idv(["emails", "list.csv", "-I.bak", "--fix", "--offline", "-q"], { home })).code).toBe(0);
  expect(readFileSync(join(home, "list.csv"), "utf8")).toContain("bob.smith@gmail.com,ok,bob.smith@gmial.com");
  const service = await idv(["emails", "list.csv", "--fix", "--set", "baseUrl=http://127.0.0.1:9"], {
    home,
    env: { IDV_API_KEY: "sk_test_0123456789" },
  });
  expect(service).toMatchObject({ code: 2, stderr: expect.stringContaining("is for the offline engine") });
});
