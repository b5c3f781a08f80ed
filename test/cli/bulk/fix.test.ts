/** Covers --fix: mistyped items are replaced in every format, and their rows keep everything else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { setQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

async function fixed(name: string, text: string, ...args: string[]) {
  const home = folderOf({ [name]: text });
  const output = args.includes("-o") ? args[args.indexOf("-o") + 1]! : `out-${name}`;
  const to = args.includes("-o") ? [] : ["-o", output];
  const { code, stderr } = await idv(["emails", name, "--offline", ...to, "--fix", ...args], { home });
  expect(code, stderr).toBe(0);
  return { text: readFileSync(join(home, output), "utf8"), stderr };
}

describe("writes what was meant, and the old value into the column was", () => {
  const [typo, meant] = ["bob.smith@gmial.com", "bob.smith@gmail.com"];
  const con = "ann.lee@larch-and-oak.con";
  const cases: [name: string, input: string, output: string, args?: string[]][] = [
    [
      "list.csv",
      `id,email,note\r\n1,${typo},a\r\n2,x@mailinator.com,b\r\n3,bob.smith@hotmial.com,c\r\n`,
      `id,email,note,status,was\r\n1,${meant},a,ok,${typo}\r\n2,x@mailinator.com,b,disposable,\r\n3,bob.smith@hotmail.com,c,ok,bob.smith@hotmial.com\r\n`,
    ],
    [
      "quoted.csv",
      `email;n\n"Bob ""B"" <${typo}>";1\n"bob.smith+x@gmial.com"\nann@larch-and-oak.com;2\n`,
      `email;n;status;was\n"Bob ""B"" <${meant}>";1;ok;${typo}\n"bob.smith+x@gmail.com";;alias;bob.smith+x@gmial.com\nann@larch-and-oak.com;2;ok;\n`,
    ],
    ["plain.txt", `${typo}\nx@@\n`, `${meant},ok,${typo}\nx@@,fake,\n`],
    [
      "list.jsonl",
      `{"a": 1, "email": "${typo}", "b": "${typo}"}\n{"email": "x@mailinator.com"}\n`,
      `{"a": 1, "email": "${meant}", "b": "${typo}", "status": "ok", "was": "${typo}"}\n{"email": "x@mailinator.com","status": "disposable","was": ""}\n`,
    ],
    [
      "list.csv",
      `email,note\n${typo},a\n`,
      `{"email":"${meant}","note":"a","status":"ok","was":"${typo}"}\n`,
      ["-o", "out.jsonl"],
    ],
    ["list.csv", `email\n${typo}\n`, `email,status,reason,suggestion,was\n${meant},ok,fixed,,${typo}\n`, ["--explain"]],
    // Not one edit from a large provider.
    ["list.csv", `email\n${con}\n`, `email,status,was\n${con},fake,\n`],
    ["list.csv", `email\n${con}\n`, `email,status,was\nann.lee@larch-and-oak.com,ok,${con}\n`, ["--fix=all"]],
    // Rows that are left out.
    [
      "list.csv",
      `email\nx@mailinator.com\n${typo}\nx@@\n`,
      `email,status,was\n${meant},ok,${typo}\n`,
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

  const [ann, bob] = ["ann@larch-and-oak.com", "b@larch-and-oak.com"];
  const [quotedHara, hara] = ["o\u2019hara@larch-and-oak.com", "o'hara@larch-and-oak.com"];
  const mailLink = (item: string, text: string) => `<a href=""mailto:${item}"">${text}</a>`;
  const twoInLink = `"=HYPERLINK(""mailto:${typo},${typo}"",""x"")"`;
  const json = (item: string) => `"{""note"": ""${typo}"", ""email"": ""${item}""}"`;
  test.each<[string, string, string]>([
    ["not another column", `id,note,email\n1,old: ${typo},${typo}\n`, `1,old: ${typo},${meant},ok,${typo}`],
    ["and the name that is the address", `email\n${typo} <${typo}>\n`, `${meant} <${meant}>,ok,${typo}`],
    ["and an address before it", `email,n\n"x${typo} <${typo}>",1\n`, `"x${meant} <${meant}>",1,ok,x${typo}; ${typo}`],
    ["in a cell with two", `email,n\n"${typo}; ${ann}",1\n`, `"${meant}; ${ann}",1,ok,${typo}`],
    [
      "twice in a cell",
      `email,n\n"${typo}; B <bob.stone@hotmial.com>",1\n`,
      `"${meant}; B <bob.stone@hotmail.com>",1,ok,${typo}; bob.stone@hotmial.com`,
    ],
    ["above a row with two", `email\n${typo}\nx@mailinator.com;y@larch-and-oak.com\n`, `${meant},ok,${typo}`],
    ["in JSON in a cell", `info\n${json(typo)}\n`, `${json(meant)},ok,${typo}`],
    ["in a link of HTML", `email\n"${mailLink(typo, typo)}"\n`, `"${meant}",ok,"${mailLink(typo, typo)}"`],
    [
      "in links side by side, after a name",
      `email\n"Ann ${mailLink(typo, "A")}${mailLink(bob, "B")}"\n`,
      `"Ann <${meant}><${bob}>",ok,"${mailLink(typo, "A")}; ${mailLink(bob, "B")}"`,
    ],
    ["unless two are in one link", `email\n${twoInLink}\n`, `${twoInLink},fake,`],
    ["and no word for none with marks", "email\na@larch-and-oak.com\n\u201cn/a\u201d\n", "\u201cn/a\u201d,,"],
    ["with marks around it", `email\n\u201c${typo}\u201d\n`, `${meant},ok,\u201c${typo}\u201d`],
    ["even if only the marks are wrong", `email\n${ann}\u00a0\n`, `${ann},ok,${ann}\u00a0`],
    ["with an apostrophe of a phone", `email\n${quotedHara}\n`, `${hara},ok,${quotedHara}`],
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

  test("and keeps the reason of what is no better without its marks", async () => {
    const { text } = await fixed(
      "list.csv",
      `email\nann\u200b@mailinator.com\nann\u200b@larch-and-oak.com\n`,
      "--explain",
    );
    expect(text.split("\n").slice(1, 3)).toEqual([
      "ann@mailinator.com,disposable,disposable-domain: mailinator.com,,ann\u200b@mailinator.com",
      "ann@larch-and-oak.com,ok,fixed,,ann\u200b@larch-and-oak.com",
    ]);
  });

  test("and what is fake without its marks, too, stays as it is", async () => {
    const items = ['\\"ann@larch-and-oak.com\\"', "u'ann@larch-and-oak.com'"];
    const input = stringify([["email"], ...items.map((item) => [item]), [ann]]);
    const { text } = await fixed("list.csv", input, "--fix=all", "--explain");
    const rows: Record<string, string>[] = parse(text, { columns: true });
    const found = rows.map(({ email, status, suggestion, was }) => [email, status, suggestion, was]);
    expect(found).toEqual([...items.map((item) => [item, "fake", "", ""]), [ann, "ok", "", ""]]);
  });

  test("in each of several columns", async () => {
    const input = `email,mail2\n${typo},\nann@larch-and-oak.com,${typo}\n`;
    expect((await fixed("list.csv", input, "-c", "*")).text).toBe(
      `email,mail2,status,was,status_mail2,was_mail2\n${meant},,ok,${typo},,\nann@larch-and-oak.com,${meant},ok,,ok,${typo}\n`,
    );
  });

  test.each([[[]], [["--drop", "fake"]], [["--update=all"]], [["-I"]]])(
    "in the cells of a workbook %j",
    async (args) => {
      const rows = `${typo},1,${ann}\nx@mailinator.com,2,\u201c${typo}\u201d\n${bob},3,\n`;
      const home = folderOf({ "list.csv": `email,n,mail2\n${rows}` });
      const columns = ["-c", "email", "-c", "mail2", "--offline", "-q"];
      await idv(["emails", "list.csv", ...columns, "-o", "list.xlsx"], { home });
      const place = args[0] === "-I" ? ["-I.bak", "--update=all"] : ["-o", "b.xlsx", ...args];
      const { code } = await idv(["emails", "list.xlsx", ...columns, ...place, "--fix"], { home });
      expect(code).toBe(0);
      const output = args[0] === "-I" ? "list.xlsx" : "b.xlsx";
      await idv(["emails", output, ...columns, "--update", "-o", "read.csv"], { home });
      const read: Record<string, string>[] = parse(readFileSync(join(home, "read.csv")), {
        ...{ columns: true, relax_column_count: true },
      });
      expect(read.map(({ email, n, mail2, was = "", was_mail2 = "" }) => [email, n, mail2, was, was_mail2])).toEqual([
        [meant, "1", ann, typo, ""],
        ["x@mailinator.com", "2", meant, "", `\u201c${typo}\u201d`],
        [bob, "3", "", "", ""],
      ]);
    },
  );

  test.each([
    [
      "list.csv",
      "email\nANN; x@larch-and-oak.com\n",
      "email,status,was\nFIXED; x@larch-and-oak.com,quota_exceeded,ANN\n",
    ],
    [
      "two.csv",
      "email,mail\nx@larch-and-oak.com,ANN;y@larch-and-oak.com\n",
      "email,mail,status,was,status_mail,was_mail\nx@larch-and-oak.com,FIXED;y@larch-and-oak.com,ok,,quota_exceeded,ANN\n",
    ],
    [
      "list.jsonl",
      '{"email":["ANN","x@larch-and-oak.com"]}\n',
      '{"email":["FIXED","x@larch-and-oak.com"],"status":"quota_exceeded","was":"ANN"}\n',
    ],
  ])("also of items that the quota had units for, in a cell with others: %s", async (name, list, output) => {
    const named = (text: string) =>
      text.replaceAll("ANN", "ann.lee@gmial.com").replaceAll("FIXED", "ann.lee@gmail.com");
    const home = folderOf({ [name]: named(list) });
    await setQuota(home, { limit: name === "two.csv" ? 2 : 1 });
    const columns = name === "two.csv" ? ["-c", "email", "-c", "mail"] : [];
    const { code, stdout } = await idv(["emails", name, "--offline", "-q", "--fix", ...columns], { home });
    expect([code, stdout]).toEqual([4, named(output)]);
  });

  test("before duplicates, flags and canonical forms are looked for", async () => {
    const input = `email\n${typo}\n${meant}\n\u201c${meant}\u201d\n`;
    expect((await fixed("list.csv", input, "--dedupe", "--add", "canonical,flags")).text).toBe(
      `email,status,was,canonical,flags\n${meant},ok,${typo},robertsmith@gmail.com,free-provider\n`,
    );
  });

  test("and keeps what it was through every later run", async () => {
    const home = folderOf({ "list.csv": `email\n${typo}\nann@larch-and-oak.com\n` });
    await idv(["emails", "list.csv", "-o", "a.csv", "--offline", "--fix"], { home });
    for (const again of [["--update"], ["--update=all"], ["--update=all", "--explain"]]) {
      const { code, stderr } = await idv(["emails", "a.csv", "-I.bak", "--offline", "--fix", ...again], { home });
      expect(code).toBe(0);
      expect(stderr).not.toContain("not validated");
      expect(readFileSync(join(home, "a.csv"), "utf8").split("\n")[1]).toContain(typo);
    }
  });
});

test("what it was is kept beside what a later run replaces in the same field", async () => {
  const two = "alice.s@gmial.com; bobby.s@gmial.com";
  const home = folderOf({ "list.csv": `email\n"${two}"\n` });
  for (const limit of [1, 20]) {
    await setQuota(home, { limit });
    await idv(["emails", "list.csv", `-I.${limit}`, "--offline", "-q", "--update", "--fix"], { home });
  }
  const text = readFileSync(join(home, "list.csv"), "utf8");
  expect(text).toBe(`email,status,was\n"${two.replaceAll("gmial", "gmail")}",ok,${two}\n`);
  const again = { stdin: `email,status,was\n"${two}",,${two}\n` };
  expect((await idv(["emails", "--offline", "-q", "--update", "--fix"], again)).stdout).toBe(text);
});

test.each(["<grace.lee@gmail,com>", "'grace.lee@gmail,com'", "(grace.lee@gmail,com)"])(
  "an item with a comma for a dot is repaired within its marks: %s",
  async (item) => {
    const stdin = `${JSON.stringify({ email: item })}\n{"email":"ann@larch-and-oak.com"}\n`;
    const { stdout } = await idv(["emails", "--offline", "-q", "--fix=all"], { stdin });
    expect(JSON.parse(stdout.split("\n")[0]!)).toMatchObject({
      status: "ok",
      was: expect.stringContaining("gmail,com"),
    });
  },
);

test("marks around an item are found in every quoting", async () => {
  const rows = ["'mary.poppins@gmail.com'", `"'mary.poppins@gmail.com'"`].map((field) => `1,${field}\n`).join("");
  const explained = await idv(["emails", "--offline", "-q", "--explain"], { stdin: `id,email\n${rows}` });
  expect(explained.stdout.match(/,ok,,mary\.poppins@gmail\.com$/gm)).toHaveLength(2);
  const { stdout } = await idv(["emails", "--offline", "-q", "--fix"], { stdin: `id,email\n${rows}` });
  expect(stdout.match(/^1,"?mary\.poppins@gmail\.com"?,ok,'mary\.poppins@gmail\.com'$/gm)).toHaveLength(2);
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
      const same = await fixed(name, input, "-c", "email", "-q", "--force");
      const tables = [
        JSON.parse(text),
        isJson
          ? JSON.parse(`[${same.text.trim().replaceAll("\n", ",")}]`)
          : parse(same.text, { delimiter, columns: true }),
      ] as { note: string; email: string }[][];
      const expected = rows.map(([note, email]) => [note, repaired(email)]);
      for (const found of tables) expect(found.map(({ note, email }) => [note, email])).toEqual(expected);
    }),
    { numRuns: times(40) },
  );
});

test("as many rows are fixed as the run before has said", async () => {
  const home = folderOf({
    "k.csv": "email\nx@mailinator.com; robert.smith@gmial.com\nrobert.smith@gmial.com\np@larch-and-oak.com\n",
  });
  const said = async (...args: string[]) => (await idv(["emails", "k.csv", ...args], { home })).stderr;
  expect(await said()).toContain("2 rows can be repaired with --fix\n");
  expect(await said("--fix")).toContain("2 rows fixed; the column was has the old values\n");
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
  const home = folderOf({ "list.csv": "email\nbob.smith@gmial.com\n" });
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

test("the summary names the column of the old values, also beside a column of that name", async () => {
  const home = folderOf({ "l.csv": "email,was\nann.lee@gmial.com,mine\n" });
  const { stdout, stderr } = await idv(["emails", "--fix", "l.csv"], { home });
  expect(stdout).toBe("email,was,status,idv_was\nann.lee@gmail.com,mine,ok,ann.lee@gmial.com\n");
  expect(stderr).toContain("1 row fixed; the column was, or idv_was, has the old values\n");
});
