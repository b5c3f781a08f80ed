/** Covers bad rows in large tables, --split and files that are replaced in place, where they need the process of the program. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { asSomebody, killedWhen, startInShell } from "../../support/processes.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { testFull, times } from "../../support/tier.js";

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

test("bad rows with a quote without its partner are the same in a table of several blocks, in threads and in batches", async () => {
  const count = times(300_000, 20_000);
  const broken = [9000, 9001, 0.5 * count, 0.8 * count];
  const quote = (i: number) => (broken.includes(i) ? '"' : "");
  const row = (i: number) => `${i},${quote(i)}ann${i % 9}@larch-and-oak.com,${"x".repeat(80)}\n`;
  const rows = Array.from({ length: count }, (_, i) => row(i));
  const home = folderOf({ list: `id,email,note\n${rows.join("")}` });
  for (const columns of [[], ["-c", "email", "-c", "note", "--force"]]) {
    const bad = `bad${columns.length}.csv`;
    const args = ["emails", "list", "--bad-rows", `skip:${bad}`, "-q", ...columns];
    const { code, stdout } = await idv(args, { home });
    expect({ code, lines: stdout.split("\n").length }).toEqual({ code: 0, lines: 1 + count - 4 + 1 });
    expect(read(home, bad).match(/^list,\d+/gm)).toEqual(broken.map((i) => `list,${i + 2}`));
  }
  expect(read(home, "bad0.csv")).toBe(read(home, "bad5.csv"));
});

test("bad rows do not include a field of several megabytes", async () => {
  const picture = `${"x".repeat(76)}\n`.repeat(times(260_000, 20_000));
  const long = "y".repeat(times(20_000_000, 1_500_000));
  const rows = [`1,"${picture}"`, '2,"<b>""Hello""</b>"', `3,${long}`, "4,", "5"];
  const list = (status: string) =>
    rows.map((row, nth) => `n${nth}@larch-and-oak.com,${row}${status && row === "5" ? "," : ""}${status}\n`).join("");
  const home = folderOf({ list: `email,id,page\n${list("")}` });
  expect(await idv(["emails", "list", "-q", "-o", "o"], { home })).toMatchObject({ code: 0, stderr: "" });
  expect(read(home, "o") === `email,id,page,status\n${list(",ok")}`).toBe(true);
});

// test/table/long-records.test.ts has such a record in the quick tier.
testFull.each(["skip", "keep"])("bad rows include a line of 70 MB with --bad-rows %s", async (policy) => {
  const long = `2,${"x".repeat(70_000_000)}\n`;
  const home = folderOf({ list: `id,email\n1,ann@larch-and-oak.com\n${long}3,bob@larch-and-oak.com\n` });
  const outcome = await idv(["emails", "list", "-q", "--bad-rows", policy, "-o", "o"], { home });
  const stderr = "idv: list:3: the record that starts here is over 64 MiB; a quote in it may never be closed\n";
  expect(outcome).toMatchObject({ code: 0, stderr });
  const kept = policy === "keep" ? long : "";
  const expected = `id,email,status\n1,ann@larch-and-oak.com,ok\n${kept}3,bob@larch-and-oak.com,ok\n`;
  expect(read(home, "o") === expected).toBe(true);
});

test("short rows of a very wide table are padded in bounded memory", async () => {
  const [rows, width] = [300, 100_000];
  const home = folderOf({ list: `email${",".repeat(width - 1)}\n${"ann@larch-and-oak.com\n".repeat(rows)}` });
  const child = startInShell('ulimit -v 2500000; exec "$@"', ["emails", "list", "-q", "-o", "o"], home);
  expect(await finished(child)).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(join(home, "o")).size).toBe((21 + width + 3) * rows + 5 + width - 1 + 8);
});

test("--split leaves no file when SIGINT arrives before all rows are there", async () => {
  const home = folderOf({});
  const child = startIdv(["emails", "--split", "d"], { home });
  child.stdin?.on("error", () => {});
  child.stdin?.write("1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,\n".repeat(20_000));
  const isOpen = () =>
    existsSync(join(home, "d")) && readdirSync(join(home, "d")).some((name) => name.endsWith(".tmp"));
  expect(await killedWhen(child, isOpen, "SIGINT")).toMatchObject({ code: 130 });
  expect(readdirSync(join(home, "d"))).toEqual([]);
});

test("-I refuses a read-only file", async () => {
  const home = folderOf({ list: "email\n" }, 0o444);
  chmodSync(home, 0o777);
  const stderr = "idv: list: is read-only; make it writable, or write elsewhere with -o\n";
  expect(await idv(["emails", "-q", "-I", "list"], { home, ...asSomebody })).toMatchObject({ code: 6, stderr });
  expect(read(home, "list")).toBe("email\n");
});

test.each([tmpdir(), "/dev/shm"].filter((device) => existsSync(device)))(
  "-I replaces a file in %s that the link to it names, and keeps the link",
  async (device) => {
    const list = "email\nann@larch-and-oak.com\n";
    const home = folderOf({});
    const folder = mkdtempSync(join(device, "idv-test-"));
    try {
      writeFileSync(join(folder, "list"), list);
      symlinkSync(relative(home, join(folder, "list")), join(home, "link"));
      const outcome = await idv(["emails", "-q", "-I.bak", "link"], { home });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      expect(read(folder, "list")).toBe("email,status\nann@larch-and-oak.com,ok\n");
      expect(read(home, "link.bak")).toBe(list);
      expect(lstatSync(join(home, "link")).isSymbolicLink()).toBe(true);
      expect(readdirSync(folder)).toEqual(["list"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
