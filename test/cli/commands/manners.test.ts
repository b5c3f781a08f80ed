/** Covers what is told to people who have typed something else than they meant, and `idv undo`. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

test.each<[string, readonly string[], string]>([
  ["a file in place of a command", ["l.csv"], "unknown command 'l.csv'; to check a list: idv emails l.csv"],
  [
    "a URL in place of a command",
    ["https://a.de/l.csv"],
    "to check a list: curl -sSf https://a.de/l.csv | idv emails",
  ],
  ["a URL in place of a file", ["emails", "https://a.de/l.csv"], "is a URL, and idv reads files: curl -sSf"],
  [
    "an option of other tools",
    ["emails", "--json", "l.csv"],
    "use --format jsonl for the table, or --log json",
  ],
  ["a command with a typo", ["emials"], "unknown command 'emials'"],
])("%s is answered with the command that was meant", async (_, args, message) => {
  const { code, stderr } = await idv(args, { home: folderOf({ "l.csv": "email\n" }) });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

describe("idv undo", () => {
  const text = "email\nx@mailinator.com\n";

  test("puts back a file, and brings the checked one back when it is run again", async () => {
    const home = folderOf({ "list.csv": text });
    await idv(["emails", "list.csv", "-I.bak", "--offline", "-q"], { home });
    const read = (name: string) => readFileSync(join(home, name), "utf8");
    const checked = read("list.csv");
    expect(await idv(["undo", "list.csv"], { home })).toEqual({
      code: 0,
      stdout: "",
      stderr: "idv: list.csv: put back; the checked file is list.csv.bak now\n",
    });
    expect([read("list.csv"), read("list.csv.bak")]).toEqual([text, checked]);
    await idv(["undo", "list.csv"], { home });
    expect([read("list.csv"), read("list.csv.bak")]).toEqual([checked, text]);
  });

  test.each(["a.csv", "./a.csv"])("changes nothing if a file is given twice: %s", async (again) => {
    const home = folderOf({ "a.csv": "new", "a.csv.bak": "old" });
    const { code, stderr } = await idv(["undo", "a.csv", again], { home });
    expect([code, stderr]).toEqual([2, `idv: ${again}: is given twice; name it once\n`]);
    expect(readFileSync(join(home, "a.csv"), "utf8")).toBe("new");
    expect(readdirSync(home).sort()).toEqual(["a.csv", "a.csv.bak"]);
  });

  test("changes nothing if one of several files has no backup", async () => {
    const home = folderOf({ "a.csv": "new", "a.csv.old": "old", "b.csv": "new" });
    const { code, stderr } = await idv(["undo", "a.csv", "b.csv", "--suffix", ".old"], { home });
    expect([code, stderr]).toEqual([2, expect.stringContaining("b.csv.old: there is no such file")]);
    expect(readFileSync(join(home, "a.csv"), "utf8")).toBe("new");
    const folder = temporaryFolder();
    writeFileSync(join(folder, "x"), "");
    expect((await idv(["undo", "."], { home: folder })).code).toBe(2);
    expect([existsSync(join(folder, "x")), statSync(folder).isDirectory()]).toEqual([true, true]);
  });
});
