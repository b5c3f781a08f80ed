/** Covers the package on other systems and with other runtimes: the same bytes and exit codes as with Node.js on Linux. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtures, idv, program } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { isAvailable, platforms, runOn, serveOn } from "./platforms.js";

const offline = ["--offline", "-q"];
/** Returns the bytes of all files in a folder, by path. */
const filesIn = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => !/^\.|^state/.test(path) && statSync(join(folder, path)).isFile())
      .sort()
      .map((path) => [path, readFileSync(join(folder, path)).toString("latin1")]),
  );

/** More than a block, with quotes, line breaks and one item that is not alone in its field. */
const manyRows = `id,email,note\n${Array.from({ length: 300_000 }, (_, i) => `${i},${i % 7 ? "person" : "a+b"}${i % 1000}@${["larch-and-oak.com", "mailinator.com", "exmaple", "gmail.com"][i % 4]},${i % 50 ? "x" : '"a ""b""\nc"'}`).join("\n")}\n`;

describe.each(platforms)("$name", (platform) => {
  const skips = !isAvailable(platform);
  const on = (home: string, args: readonly string[], env = {}) => runOn(platform, home, args, env);
  const it = test.skipIf(skips);

  it("writes the same tables, and ends with the same exit codes", async () => {
    const tables = ["exports", "encodings"].flatMap((folder) =>
      readdirSync(join(fixtures, folder)).map((name) => join(fixtures, folder, name)),
    );
    for (const args of [
      ...tables.map((path) => [path, "--explain", "--add", "canonical"]),
      [join(fixtures, "customers.csv"), "--fail-on", "fake"],
      [join(fixtures, "customers.csv"), "--format", "jsonl", "--add", "flags"],
      ["no-such-file.csv"],
    ]) {
      const [here, there] = [temporaryFolder(), temporaryFolder()];
      const [name = "", ...rest] = args;
      const path = join(fixtures, "..", "..", name);
      for (const home of [here, there]) if (existsSync(name)) cpSync(name, join(home, "list.csv"));
      const command = ["emails", existsSync(name) ? "list.csv" : path, "-o", "out.csv", ...rest, ...offline];
      const wanted = await idv(command, { home: here });
      const { code, stderr } = await on(there, command);
      expect({ code, stderr: stderr.length > 0 }, `${name} ${stderr}`).toEqual({
        code: wanted.code,
        stderr: wanted.stderr.length > 0,
      });
      expect(readIf(join(there, "out.csv")), name).toBe(readIf(join(here, "out.csv")));
    }
  });

  it("uses threads for 300,000 rows, and the formats of compressed files and workbooks", async () => {
    const [here, there] = [temporaryFolder(), temporaryFolder()];
    for (const home of [here, there]) writeFileSync(join(home, "list.csv"), manyRows);
    for (const args of [
      ["list.csv", "-o", "out.csv.gz"],
      ["out.csv.gz", "--split", "parts", "--set", "statusColumn=again"],
      ["parts/fake.csv", "-o", "fake.xlsx"],
      ["fake.xlsx", "-o", "fake.csv"],
      ["list.csv", "--dedupe", "-o", "first.jsonl.zst"],
      ["list.csv", "--report", "report.html", "-o", "other.csv"],
    ]) {
      for (const run of [
        idv(["emails", ...args, ...offline], { home: here }),
        on(there, ["emails", ...args, ...offline]),
      ]) {
        expect({ ...(await run), args }).toEqual({ code: 0, stdout: "", stderr: "", args });
      }
    }
    const [wanted, found] = [filesIn(here), filesIn(there)];
    expect([...found.keys()]).toEqual([...wanted.keys()]);
    for (const path of ["parts/ok.csv", "parts/fake.csv", "fake.csv", "other.csv"]) {
      expect(found.get(path) === wanted.get(path), path).toBe(true);
    }
  });

  it("charges a quota, replaces files with a backup, and finds all well with idv doctor", async () => {
    const home = temporaryFolder();
    cpSync(join(fixtures, "customers.csv"), join(home, "list.csv"));
    const before = readFileSync(join(home, "list.csv"), "utf8");
    expect(await on(home, ["quota", "set", "--limit", "10"])).toMatchObject({ code: 0, stderr: "" });
    expect(await on(home, ["emails", "-I.bak", "list.csv", ...offline])).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(home, "list.csv.bak"), "utf8")).toBe(before);
    expect(JSON.parse((await on(home, ["quota", "show", "--json"])).stdout)).toMatchObject({ used: 8 });
    expect(await on(home, ["emails", "-I", "list.csv.bak", ...offline])).toMatchObject({ code: 4 });
    expect(await on(home, ["check", "a@mailinator.com"])).toMatchObject({
      code: 0,
      stdout: "a@mailinator.com\tdisposable\tdisposable-domain: mailinator.com\n",
    });
    const doctor = await on(home, ["doctor"], { XDG_STATE_HOME: "" });
    expect(doctor).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("no fault found") });
    if (platform.isWindows) {
      expect(doctor.stdout).toMatch(/\\AppData\\Local\\idv\\quota\.db\t/);
      expect(doctor.stdout).toMatch(/\\AppData\\Roaming\\idv\\credentials\.json/);
    }
  });

  it("serves, and runs with a service", async () => {
    const home = temporaryFolder();
    const keys = ["keys", "create", "--name", "shop", "--limit", "8", "--state", "service.db"];
    const secret = (await on(home, keys)).stdout.trim();
    const env = { IDV_BASE_URL: await serveOn(platform, home), IDV_API_KEY: secret };
    cpSync(join(fixtures, "customers.csv"), join(home, "list.csv"));
    // Wine cannot connect a socket with keep-alive, which undici asks for.
    const run = (args: readonly string[]) => (platform.isWindows ? idv(args, { home, env }) : on(home, args, env));
    expect(await run(["emails", "list.csv", "-o", "out.csv", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
    const wanted = await idv(["emails", join(fixtures, "customers.csv"), ...offline]);
    expect(readFileSync(join(home, "out.csv"), "latin1")).toBe(wanted.stdout);
    writeFileSync(join(home, "more.csv"), "email\na@larch-and-oak.com\n");
    expect((await run(["emails", "more.csv", "-o", "more-out.csv", "-q"])).code).toBe(4);
    expect(readFileSync(join(home, "more-out.csv"), "utf8")).toBe("email,status\na@larch-and-oak.com,quota_exceeded\n");
  });

  test.skipIf(skips || platform.binary !== undefined)("provides the library", async () => {
    const home = temporaryFolder();
    const library = join(dirname(dirname(program)), "dist/library/index.js");
    const script = join(home, "script.mjs");
    const source = platform.isWindows ? `file:///Z:${library}` : library;
    writeFileSync(
      script,
      `import { classifyEmail, classifyDomain } from ${JSON.stringify(source)};
       console.log(classifyEmail("a@mailinator.com").status, classifyEmail("Ann <ann.larsson@gmail.com>").status, classifyDomain("exmaple").status);`,
    );
    const { code, stdout, stderr } = await runOn(platform, home, [], {}, script);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "disposable ok fake\n", stderr: "" });
  });
});

const readIf = (path: string) => (existsSync(path) ? readFileSync(path, "latin1") : undefined);
