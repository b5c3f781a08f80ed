/** Covers `--add flags`, and rows chosen by flags. */
import { expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const list = `id,email
1,info@gmail.com
2,ann@larch-and-oak.com
3,sales@larch-and-oak.com
4,x7k2@duck.com
5,
6,x@mailinator.com
7,noreply@larch-and-oak.com
8,broken
`;
const run = (...args: string[]) => idv(["emails", "l.csv", "-q", ...args], { home: folderOf({ "l.csv": list }) });
const idsIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((row) => row[0])
    .join("");

test("--update tells the items that decided in fields with several", async () => {
  const rows = ['1,"lee.jones@gmail.com; info@example.com"', '2,"sales@nordlicht-verlag.de; bar@guerrillamail.com"'];
  const home = folderOf({ "a.csv": `id,email\n${rows.join("\n")}\n` });
  expect((await idv(["emails", "a.csv", "-q", "-o", "b.csv"], { home })).code).toBe(0);
  const of = async (...words: string[]) => idv(["emails", "b.csv", "-q", ...words], { home });
  for (const update of ["--update", "--update=all"]) {
    const dropped = await of(update, "--drop", "flag:role");
    expect(dropped.stdout).toBe(`id,email,status\n${rows[1]},disposable\n`);
    const { stderr } = await of(update, "--log", "github");
    expect(stderr).toContain("line=2::info@example.com is fake");
    expect(stderr).toContain("line=3::bar@guerrillamail.com is disposable");
  }
});

test("adds the flags of each item as one column", async () => {
  const { code, stdout } = await run("--add", "flags");
  expect(code).toBe(0);
  expect(stdout).toBe(
    `id,email,status,flags
1,info@gmail.com,fake,role free-provider
2,ann@larch-and-oak.com,ok,
3,sales@larch-and-oak.com,ok,role
4,x7k2@duck.com,alias,relay
5,,,
6,x@mailinator.com,disposable,
7,noreply@larch-and-oak.com,ok,role no-reply
8,broken,fake,
`,
  );
});

test("keeps the column up to date with --update", async () => {
  const first = await run("--add", "flags");
  const home = folderOf({ "l.csv": `${first.stdout}9,hr@larch-and-oak.com,,\n` });
  const { stdout } = await idv(["emails", "l.csv", "-q", "--add", "flags", "--update"], { home });
  expect(stdout).toBe(`${first.stdout}9,hr@larch-and-oak.com,ok,role\n`);
});

test.each([
  [["--drop", "flag:role"], "24568"],
  [["--drop", "flag:role,flag:relay"], "2568"],
  [["--drop", "disposable,fake,empty,flag:no-reply"], "234"],
  [["--only", "flag:role"], "137"],
  [["--only", "ok,flag:free-provider"], "1237"],
  [["--only", "flag:relay"], "4"],
  [["--only", "flag:role", "--dedupe"], "137"],
])("%j writes the rows %s", async (args, ids) => {
  const { code, stdout } = await run(...args);
  expect(code).toBe(0);
  expect(idsIn(stdout)).toBe(ids);
});

test("rows that keep their status are chosen by their flags, too", async () => {
  const home = folderOf({ "l.csv": (await run()).stdout });
  const { stdout } = await idv(["emails", "l.csv", "-q", "--update", "--drop", "flag:role"], { home });
  expect(idsIn(stdout)).toBe("24568");
});

test("several items in a field have the flags of the one that decides", async () => {
  const rows = ["ann@larch-and-oak.com; sales@mailinator.com", "sales@larch-and-oak.com; x@mailinator.com"];
  const home = folderOf({ "l.csv": `id,email\n${rows.map((row, i) => `${i + 1},${row}\n`).join("")}` });
  const { stdout } = await idv(["emails", "l.csv", "-q", "--only", "flag:role"], { home });
  expect(idsIn(stdout)).toBe("1");
});

test.each([
  ["flag:parked", "flag:parked is known from DNS only; add --dns"],
  ["flag:mx:google", "flag:mx:google is known from DNS only; add --dns"],
  ["flag:roles", '"flag:roles" is invalid. Did you mean flag:role? Flags: flag:role, flag:free-provider'],
  ["flag:mx:nobody", '"flag:mx:nobody" is invalid. Flags: flag:role'],
])("--drop %s is refused", async (word, message) => {
  expect(await run("--drop", word)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});
