/** Covers --fix: mistyped items are replaced in every format, and their rows keep everything else. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

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

test("the rest of a large list stays as it is, whatever thread has written it", async () => {
  const row = (i: number) =>
    `${i},person.${i}@${i % 997 === 5 ? "gmial.com" : "larch-and-oak.com"},note ${i}`;
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
  expect(readFileSync(join(home, "list.csv"), "utf8")).toContain(
    "bob.smith@gmail.com,ok,bob.smith@gmial.com",
  );
  const service = await idv(["emails", "list.csv", "--fix", "--set", "baseUrl=http://127.0.0.1:9"], {
    home,
    env: { IDV_API_KEY: "sk_test_0123456789" },
  });
  expect(service).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is for the offline engine"),
  });
});
