/** Covers bad rows in large tables, --split and files that are replaced in place. */
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { command, finished, idv, startIdv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { isFull, times } from "../../support/tier.js";

const read = (home: string, name: string) => readFileSync(join(home, name), "utf8");

describe("bad rows", () => {
  test("with a quote without its partner are the same in a table of several blocks, in threads and in batches", async () => {
    const count = times(300_000, 60_000);
    const broken = [9000, 9001, 0.4 * count, 0.8 * count];
    const many = Array.from(
      { length: count },
      (_, i) => `${i},ann${i % 9}@larch-and-oak.com,${"x".repeat(80)}`,
    );
    for (const i of broken) many[i] = many[i]!.replace(",ann", ',"ann');
    const home = folderOf({ list: `id,email,note\n${many.join("\n")}\n` });
    const runs = await Promise.all(
      [[], ["-c", "email", "-c", "note"]].map((args) =>
        idv(["emails", "list", "--bad-rows", `skip:bad${args.length}.csv`, "-q", ...args], { home }),
      ),
    );
    for (const { code, stdout } of runs) {
      expect({ code, lines: stdout.split("\n").length }).toEqual({ code: 0, lines: 1 + count - 4 + 1 });
    }
    expect(read(home, "bad0.csv")).toBe(read(home, "bad4.csv"));
    expect(read(home, "bad0.csv").match(/^list,\d+/gm)).toEqual(broken.map((i) => `list,${i + 2}`));
  });

  test("do not include a field of several megabytes", async () => {
    const picture = `${"x".repeat(76)}\n`.repeat(times(260_000, 60_000));
    const rows = [
      `1,"${picture}"`,
      '2,"<b>""Hello""</b>"',
      `3,${"y".repeat(times(20_000_000, 5_000_000))}`,
      "4,",
      "5",
    ];
    const list = (status: string) =>
      rows.map((row, nth) => `n${nth}@larch-and-oak.com,${row}${status}\n`).join("");
    const home = folderOf({ list: `email,id,page\n${list("")}` });
    const { code, stderr } = await idv(["emails", "list", "-q", "-o", "o"], { home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const expected = `email,id,page,status\n${list(",ok")}`.replace(
      "4@larch-and-oak.com,5,ok",
      "4@larch-and-oak.com,5,,ok",
    );
    expect(read(home, "o") === expected).toBe(true);
  });

  test.each(isFull ? ["skip", "keep"] : ["skip"])(
    "include a line of 70 MB with --bad-rows %s",
    async (policy) => {
      const long = `2,${"x".repeat(70_000_000)}`;
      const home = folderOf({
        list: `id,email\n1,ann@larch-and-oak.com\n${long}\n3,bob@larch-and-oak.com\n`,
      });
      const { code, stderr } = await idv(["emails", "list", "-q", "--bad-rows", policy, "-o", "o"], { home });
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr:
          "idv: list:3: the record that starts here is over 64 MiB; a quote in it may never be closed\n",
      });
      const kept = policy === "keep" ? `${long}\n` : "";
      const expected = `id,email,status\n1,ann@larch-and-oak.com,ok\n${kept}3,bob@larch-and-oak.com,ok\n`;
      expect(read(home, "o") === expected).toBe(true);
    },
  );
});

test("short rows of a very wide table are padded in bounded memory", async () => {
  const rows = 300;
  const width = 100_000;
  const home = folderOf({
    list: `email${",".repeat(width - 1)}\n${"ann@larch-and-oak.com\n".repeat(rows)}`,
  });
  const args = ["-c", 'ulimit -v 2500000; exec "$@"', "_", ...command];
  const child = spawn("bash", [...args, "emails", "list", "-q", "-o", "o"], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home },
  });
  expect(await finished(child)).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(join(home, "o")).size).toBe((21 + width + 3) * rows + 5 + width - 1 + 8);
});

describe("--split", () => {
  const list = "id,email\n1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,\n4,bob@larch-and-oak.com\n";

  test("refuses the files of an earlier run, before anything is charged", async () => {
    const home = folderOf({ list });
    await idv(["emails", "list", "-q", "--split", "d"], { home });
    const before = read(home, "d/ok.csv");
    const { code, stderr } = await idv(["emails", "list", "-q", "--split", "d"], { home });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "idv: d/ok.csv: has the rows of another run; empty the folder, or name another one\n",
    });
    expect(read(home, "d/ok.csv")).toBe(before);
    expect((await readQuota(home)).used).toBe(3);
  });

  test("leaves no file when SIGINT arrives before all rows are there", async () => {
    const home = folderOf({});
    const child = startIdv(["emails", "--split", "d"], { home });
    const ended = finished(child);
    child.stdin?.on("error", () => {});
    child.stdin?.write(`${list}4,a@larch-and-oak.com\n`.repeat(40_000).replaceAll("id,email\n", ""));
    const has = (name: string) =>
      existsSync(join(home, "d")) && readdirSync(join(home, "d")).some((own) => own.endsWith(name));
    await expect.poll(() => has(".tmp")).toBe(true);
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
    expect(readdirSync(join(home, "d"))).toEqual([]);
  });

  test("refuses a table with another header", async () => {
    const home = folderOf({ list, other: "name,email\nAnn,ann@larch-and-oak.com\n" });
    const { code, stderr } = await idv(["emails", "list", "other", "-q", "--split", "d"], { home });
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: d/ok.csv: its header differs from this table's; split into another folder\n",
    });
  });
});

describe("a file that is replaced", () => {
  const list = "email\nann@larch-and-oak.com\n";

  test("through a symbolic link stays in its place, as does the link", async () => {
    const home = folderOf({});
    mkdirSync(join(home, "real"));
    writeFileSync(join(home, "real/list"), list);
    symlinkSync("real/list", join(home, "link"));
    expect((await idv(["emails", "-q", "-I", "link"], { home })).code).toBe(0);
    expect(read(home, "real/list")).toBe("email,status\nann@larch-and-oak.com,ok\n");
    expect(readdirSync(home).sort()).toEqual(["link", "real", "state"]);
  });

  test.skipIf(!existsSync("/dev/shm"))("may be on another device than the link to it", async () => {
    const home = folderOf({});
    const shared = mkdtempSync("/dev/shm/idv-test-");
    try {
      writeFileSync(join(shared, "list"), list);
      symlinkSync(join(shared, "list"), join(home, "link"));
      const outcome = await idv(["emails", "-q", "-I.bak", "link"], { home });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      const columns = "email,status\nann@larch-and-oak.com,ok\n";
      expect(readFileSync(join(shared, "list"), "utf8")).toBe(columns);
      expect(read(home, "link.bak")).toBe(list);
    } finally {
      rmSync(shared, { recursive: true });
    }
  });

  test("must not be read-only", async () => {
    const home = folderOf({ list });
    execFileSync("chmod", ["-R", "a+rwX", home]);
    execFileSync("chmod", ["444", join(home, "list")]);
    const asSomebody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const { code, stderr } = await idv(["emails", "-q", "-I", "list"], { home, ...asSomebody });
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: list: is read-only; make it writable, or write elsewhere with -o\n",
    });
    expect(read(home, "list")).toBe(list);
  });

  test("stays as it is if it grows while it is read", async () => {
    const home = folderOf({ list: `email\n${"ann@larch-and-oak.com\n".repeat(400_000)}` });
    const { size } = statSync(join(home, "list"));
    const child = startIdv(["emails", "-q", "-I", "list"], { home });
    const ended = finished(child);
    while (child.exitCode === null) {
      appendFileSync(join(home, "list"), "late@larch-and-oak.com\n");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { code, stderr } = await ended;
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: "idv: list has changed while it was read; it is left as it is now; run again\n",
    });
    expect(statSync(join(home, "list")).size).toBeGreaterThan(size);
    expect(readdirSync(home).sort()).toEqual(["list", "state"]);
  });
});
