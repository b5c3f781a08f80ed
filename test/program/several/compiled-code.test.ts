/** Covers the compiled code that the program keeps in the user's cache folder, and the cases in which it keeps none. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { compress } from "@cloudpss/zstd";
import { expect, test } from "vitest";
import { finished, idvProcess, spawnProgram } from "../../support/run-idv.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const checked = "email,status\nann@larch-and-oak.com,ok\na@mailinator.com,disposable\n";

/** Checks a list `times` times. Returns the names of what is kept afterwards. */
async function kept(home: string, times: number, env: object = {}, folder = join(home, ".cache/idv")) {
  writeFileSync(join(home, "list.csv"), "email\nann@larch-and-oak.com\na@mailinator.com\n");
  for (let run = 0; run < times; run++) {
    const outcome = await idvProcess(["emails", "-q", "list.csv"], {
      home,
      env: { NODE_DISABLE_COMPILE_CACHE: "", ...env },
    });
    expect(outcome).toMatchObject({ code: 0, stdout: checked });
  }
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

const nameOfCode = expect.stringMatching(/^run-[\w-]{8}\.js\.emails\.v\d+\.\d+\.\d+-\w+$/);

const onPosix = test.skipIf(process.platform === "win32");

onPosix("a second run keeps compiled code for its user alone, and later runs use it", async () => {
  const home = temporaryFolder();
  expect(await kept(home, 1)).toEqual([]);
  const names = await kept(home, 1);
  const folder = join(home, ".cache/idv");
  expect(names).toContainEqual(nameOfCode);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const times = () => names.map((name) => statSync(join(folder, name)).mtimeMs);
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  const before = times();
  expect(await kept(home, 1)).toEqual(names);
  expect(times()).toEqual(before);
});

onPosix("each command has its own code, and only one that has completed stores it", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "list.csv"), "email\nann@larch-and-oak.com\n");
  const commandsAfter = async (words: string, code: number) => {
    const args = words.split(" ").filter((word) => word !== "");
    expect(await idvProcess(args, { home, env: { NODE_DISABLE_COMPILE_CACHE: "" } })).toMatchObject({ code });
    const names = readdirSync(join(home, ".cache/idv")).map((name) => name.split(".")[2]!);
    return [...new Set(names)].sort();
  };
  expect(await commandsAfter("emails list.csv", 0)).toEqual([]);
  expect(await commandsAfter("emails --help", 0)).toEqual([]);
  expect(await commandsAfter("emails nowhere.csv", 6)).toEqual([]);
  expect(await commandsAfter("check ann@larch-and-oak.com", 0)).toEqual(["check"]);
  expect(await commandsAfter("emails list.csv --fail-on ok", 1)).toEqual(["check", "emails"]);
  expect(await commandsAfter("", 2)).toEqual(["check", "emails"]);
});

onPosix("a run whose reader is gone stores its code", async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, ".cache/idv"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "list.csv"), `email\n${"ann@larch-and-oak.com\n".repeat(100_000)}`);
  const child = spawnProgram(["emails", "-q", "list.csv"], {
    cwd: home,
    env: { HOME: home, NODE_DISABLE_COMPILE_CACHE: "" },
  });
  child.stdout!.once("data", () => child.stdout!.destroy());
  expect(await finished(child)).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(join(home, ".cache/idv"))).toContainEqual(nameOfCode);
});

onPosix("what a run loads late is loaded with compiled code, too", async () => {
  const home = temporaryFolder();
  const compressed = await compress(Buffer.from("email\nann@larch-and-oak.com\n"));
  writeFileSync(join(home, "list.csv.zst"), compressed);
  const of = (words: string, env = {}) =>
    idvProcess(words.split(" "), { home, env: { NODE_DISABLE_COMPILE_CACHE: "", ...env } });
  for (let run = 0; run < 4; run++) {
    const read = await of("emails -q list.csv.zst");
    expect(read).toEqual({ code: 0, stdout: "email,status\nann@larch-and-oak.com,ok\n", stderr: "" });
    const key = { IDV_API_KEY_COMMAND: "echo k", IDV_BASE_URL: "http://127.0.0.1:9", IDV_MAX_RETRIES: "0" };
    expect(await of("emails -q list.csv.zst", key)).toMatchObject({
      code: 5,
      stderr: expect.not.stringContaining("bug"),
    });
    expect((await of("doctor --dns")).stderr).not.toContain("bug");
  }
});

onPosix("code that is damaged anywhere, or is not the user's, is compiled again", async () => {
  const home = temporaryFolder();
  const names = await kept(home, 2);
  const folder = join(home, ".cache/idv");
  const sizes = new Map(names.map((name) => [name, statSync(join(folder, name)).size]));
  const damages: ((path: string) => void)[] = [
    (path) => writeFileSync(path, ""),
    (path) => writeFileSync(path, "x".repeat(5000)),
    // V8 compares a header only, and crashes.
    (path) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0, bytes.length / 2, bytes.length / 2 + 400));
    },
    (path) => {
      renameSync(path, join(home, "elsewhere"));
      symlinkSync(join(home, "elsewhere"), path);
    },
    (path) => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
  ];
  for (const damage of damages) {
    for (const name of names) damage(join(folder, name));
    expect(await kept(home, 1)).toEqual(names);
    for (const name of names) expect([name, lstatSync(join(folder, name)).isFile()]).toEqual([name, true]);
    for (const [name, size] of sizes) expect(statSync(join(folder, name)).size).toBeGreaterThan(size / 2);
  }
});

onPosix("what a run that was ended has left does not keep others from storing their code", async () => {
  const home = temporaryFolder();
  await kept(home, 1);
  const folder = join(home, ".cache/idv");
  symlinkSync("nowhere", join(folder, "link"));
  const leftover = "run-aaaaaaaa.js.v20.0.0-x64.1.tmp";
  for (const name of [leftover, "quota.db"]) {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), 0, 0);
  }
  const names = await kept(home, 1);
  expect(names).toContainEqual(nameOfCode);
  // What is not of this file's making stays, however old it is.
  expect([names.includes(leftover), names.includes("quota.db")]).toEqual([false, true]);
});

onPosix.each(["", ".", "home"])(
  "nothing is kept or used for HOME=%j, which is the folder that idv runs in",
  async (value) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "home/.cache/idv"), { recursive: true, mode: 0o700 });
    mkdirSync(join(folder, ".cache/idv"), { recursive: true, mode: 0o700 });
    for (let run = 0; run < 2; run++) {
      const outcome = await finished(
        spawnProgram(["check", "ann@larch-and-oak.com"], { cwd: folder, env: { HOME: value, XDG_CACHE_HOME: folder } }),
      );
      expect(outcome).toMatchObject({ code: 0 });
    }
    expect(readdirSync(join(folder, ".cache/idv")).concat(readdirSync(join(folder, "home/.cache/idv")))).toEqual([]);
  },
);

onPosix.each<[string, (home: string) => void]>([
  ["a home that others can write to", (home) => chmodSync(home, 0o777)],
  ["a cache folder that others can write to", (home) => chmodSync(join(home, ".cache"), 0o777)],
  ["a folder for code that others can write to", (home) => chmodSync(join(home, ".cache/idv"), 0o770)],
])("nothing is kept in %s", async (_, open) => {
  const home = temporaryFolder();
  mkdirSync(join(home, ".cache/idv"), { recursive: true, mode: 0o700 });
  open(home);
  expect(await kept(home, 2)).toEqual([]);
});

onPosix("nothing is kept behind a link or outside of the home", async () => {
  const [home, other] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(home, ".cache"));
  symlinkSync(other, join(home, ".cache/idv"));
  expect(await kept(home, 2, {}, other)).toEqual([]);
  const elsewhere = temporaryFolder();
  expect(await kept(temporaryFolder(), 2, { XDG_CACHE_HOME: elsewhere }, elsewhere)).toEqual([]);
});

onPosix("nothing is kept when the user says so", async () => {
  const home = temporaryFolder();
  expect(await kept(home, 2, { NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual([]);
});

onPosix("a folder below the home can be named", async () => {
  const home = temporaryFolder();
  expect(await kept(home, 2, { XDG_CACHE_HOME: join(home, "caches") }, join(home, "caches/idv"))).not.toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)("nothing is kept in the home of another user, as sudo leaves it", async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, ".cache/idv"), { recursive: true, mode: 0o700 });
  chownSync(home, 54_321, 54_321);
  expect(await kept(home, 2)).toEqual([]);
});

onPosix(
  "threads that start before a large list is read give its rows, or end with a run that cannot begin",
  async () => {
    const home = temporaryFolder();
    const address = (row: number) => `user${row}@${"larch-and-oak.".repeat(4)}com`;
    const rows = Array.from({ length: 400_000 }, (_, row) => address(row));
    writeFileSync(join(home, "list.csv"), `email\n${rows.join("\n")}\n`);
    const written = `email,status\n${rows.map((row) => `${row},ok\n`).join("")}`;
    const env = { NODE_DISABLE_COMPILE_CACHE: "" };
    // From the third run on, there is compiled code.
    for (let run = 0; run < 3; run++) {
      const args = ["emails", "--offline", "-q", "list.csv", "-o", "out.csv"];
      expect(await idvProcess(args, { home, env })).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(readFileSync(join(home, "out.csv"), "utf8") === written).toBe(true);
      const refused = await idvProcess([...args, "-c", "name"], { home, env });
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no column "name"') });
    }
  },
);
