/** Covers runs that fail while they write, without permission, or by a signal; test/cli/bulk/failed-runs.test.ts has those that fail before. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asSomebody, killedWhen, startInShell } from "../../support/processes.js";
import { finished, idv, spawnProgram, startIdv } from "../../support/run-idv.js";
import { respond, scriptedServer } from "../../support/scripted-server.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";
import { some, times } from "../../support/tier.js";

const list = "email\nann@larch-and-oak.com\n";

/** Creates a folder with an old output file, which every failure must leave unchanged. */
const folderWith = (files: Readonly<Record<string, string | Buffer>> = {}) => folderOf({ "out.csv": "old", ...files });

describe("a failed run prints one line and keeps the old output", () => {
  test("without a FILE where standard input is none, as in jobs of systemd", async () => {
    const home = folderWith();
    const settings = { cwd: home, env: { PATH: process.env["PATH"], HOME: home } };
    const child = spawnProgram(["emails", "-q", "-o", "out.csv"], { ...settings, stdio: ["ignore", "pipe", "pipe"] });
    const stderr = "idv: no FILE is given, and standard input is empty\n";
    expect(await finished(child)).toMatchObject({ code: 2, stderr });
    expect(readFileSync(join(home, "out.csv"), "utf8")).toBe("old");
  });

  const outputs = ["-o out.csv.gz", "-o out.csv", "--split .", "--bad-rows skip:bad.csv", "-I.bak"];
  test.each(some(outputs, 2))("an output that runs out of space with %s", async (option) => {
    // Random, so that compression does not make the rows fit.
    const random = (i: number) => createHash("sha256").update(String(i)).digest("hex");
    const row = (i: number) => `ann@larch-and-oak.com,${random(i)}\nann@larch-and-oak.com,x,y\n`;
    const rows = Array.from({ length: times(30_000, 12_000) }, (_, i) => row(i));
    const files = { "l.csv": `email,n\n${rows.join("")}`, "bad.csv": "file,line,reason,record\n" };
    const home = folderWith({ ...files, "out.csv.gz": "old" });
    // With a limit, a failure says what it has cost: nothing.
    await idv(["quota", "set", "--limit", "1000000"], { home });
    const options = `${option}${option.includes("--bad-rows") ? "" : " --bad-rows skip"}`.split(" ");
    // In blocks of 1024 bytes: the only limit on space that can be set without privileges.
    const child = startInShell('ulimit -f 300; exec "$@"', ["emails", "l.csv", "-q", ...options], home);
    const { code, stderr } = await finished(child);
    const lastLine = stderr.trimEnd().split("\n").at(-1);
    expect(lastLine).toMatch(/^idv: \S+: cannot be written: it would exceed the file size limit \(ulimit -f\)$/);
    expect(code).toBe(6);
    for (const [name, content] of Object.entries({ ...files, "out.csv": "old", "out.csv.gz": "old" })) {
      expect(readFileSync(join(home, name), "utf8")).toBe(content);
    }
    expect(readdirSync(home).sort()).toEqual(["bad.csv", "l.csv", "out.csv", "out.csv.gz", "state"]);
  });

  test("an output without space for its first bytes, of which nothing stays", async () => {
    const home = folderWith({ "l.csv": `email,${"n".repeat(400_000)}\nann@larch-and-oak.com,x\n`, "s/old": "" });
    const words = ["emails", "l.csv", "--offline", "-q", "--split", "s"];
    const { code, stderr } = await finished(startInShell('ulimit -f 300; exec "$@"', words, home));
    expect([code, stderr]).toEqual([
      6,
      expect.stringMatching(/^idv: s\/ok\.csv: cannot be written: .*\(ulimit -f\)\n$/),
    ]);
    expect(readdirSync(join(home, "s"))).toEqual(["old"]);
  });

  test("a quota file without space for its first bytes", async () => {
    const home = folderWith({ "l.csv": list });
    const { code, stderr } = await finished(startInShell('ulimit -f 8; exec "$@"', ["emails", "l.csv", "-q"], home));
    const reason = "no space left on the device for the quota file; free some space";
    expect([code, stderr]).toEqual([6, expect.stringContaining(`quota.db: ${reason}`)]);
  });

  test("standard output to a file without space for its last bytes", async () => {
    const home = folderWith({ "l.csv": `email\n${"ann@larch-and-oak.com\n".repeat(30_000)}` });
    const outcome = await finished(startInShell('ulimit -f 500; exec "$@" > out.csv', ["emails", "l.csv", "-q"], home));
    const stderr = "idv: standard output: cannot be written: it would exceed the file size limit (ulimit -f)\n";
    expect(outcome).toMatchObject({ code: 6, stderr });
  });

  const printing = ["emails l.csv", "check a@b.co", "quota show", "--help", "--version"];
  test.each(some(printing, 3))("standard output on a full device: idv %s", async (words) => {
    const home = folderWith({ "l.csv": list });
    const child = spawnProgram(words.split(" "), {
      ...{ cwd: home, env: { PATH: process.env["PATH"], HOME: home } },
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    const stderr = "idv: standard output: cannot be written: no space left on the device\n";
    expect(await finished(child)).toMatchObject({ code: 6, stderr });
  });
});

describe("without permission", () => {
  function lockedFolder(): string {
    const home = folderWith({ "l.csv": list, "secret.csv": list, "locked/quota.db": "" });
    chmodSync(join(home, "secret.csv"), 0o000);
    chmodSync(join(home, "locked", "quota.db"), 0o444);
    chmodSync(join(home, "locked"), 0o555);
    chmodSync(home, 0o777);
    return home;
  }

  const denied = "the quota file cannot be opened: permission denied; make it writable or use another file";
  const forbidden = [
    ["read the input", "secret.csv", "secret.csv: cannot be read: permission denied"],
    ["write the output", "l.csv -o locked/out.csv", "locked/out.csv: cannot be written: permission denied"],
    ["write the quota file", "l.csv --quota locked/quota.db", `locked/quota.db: ${denied}`],
    ["create the quota file", "l.csv --quota locked/q.db", `locked/q.db: ${denied}`],
  ] as const;
  // test/program/several/small-faults.test.ts has more of them, in a folder that is closed.
  test.each(some(forbidden, 2))("fails to %s", async (_, line, message) => {
    const outcome = await idv(["emails", ...line.split(" ")], { home: lockedFolder(), ...asSomebody });
    expect(outcome).toMatchObject({ code: 6, stderr: `idv: ${message}\n` });
  });
});

describe("closed pipes and misused files", () => {
  test("-o /dev/stdout writes where the shell does, and accepts a closed pipe", async () => {
    const many = "ann@larch-and-oak.com\n".repeat(times(200_000, 20_000));
    const home = folderWith({ "l.csv": `email\n${many}`, "s.csv": list });
    const run = async (line: string) => (await finished(startInShell(line, [], home))).stdout;
    await run("echo first > f; idv emails -q s.csv -o /dev/stdout >> f");
    expect(readFileSync(join(home, "f"), "utf8")).toBe("first\nemail,status\nann@larch-and-oak.com,ok\n");
    // A file that is opened anew is written from its start by what comes after.
    for (const output of ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
      await run(`(idv emails -q s.csv -o ${output}; echo last) > f`);
      expect(readFileSync(join(home, "f"), "utf8")).toBe("email,status\nann@larch-and-oak.com,ok\nlast\n");
    }
    const piped = "idv emails -q l.csv -o /dev/stdout 2>&1 | head -1; echo $" + "{PIPESTATUS[@]}";
    expect(await run(piped)).toBe("email,status\n0 0\n");
  });

  test("rejects a folder on standard input", async () => {
    const child = spawnProgram(["emails"], {
      env: { PATH: process.env["PATH"], HOME: temporaryFolder() },
      stdio: [openSync(tmpdir(), "r"), "pipe", "pipe"],
    });
    const stderr = "idv: standard input: is a folder; give a file\n";
    expect(await finished(child)).toMatchObject({ code: 6, stderr });
  });
});

describe("signals", () => {
  test("SIGINT ends a run whose output is not read", async () => {
    const home = folderWith({ "l.csv": `email\n${"ann@larch-and-oak.com\n".repeat(300_000)}` });
    const child = startIdv(["emails", "l.csv"], { home });
    const ended = once(child, "exit");
    await once(child.stdout!, "readable");
    // Then no more is read, and the rows that are left do not fit into the pipe.
    const { readableHighWaterMark: most } = child.stdout!;
    await expect.poll(() => child.stdout!.readableLength).toBeGreaterThanOrEqual(most);
    expect(child.exitCode).toBeNull();
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    child.stdout?.destroy();
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends a run while standard input is open", async (signal, expected) => {
    const home = folderWith();
    const child = startIdv(["emails", "-o", "out.csv"], { home });
    child.stdin?.on("error", () => {});
    // More than the sample, so that the run starts; the input stays open.
    child.stdin?.write("ann@larch-and-oak.com\n".repeat(20_000));
    const isOpen = () => readdirSync(home).some((name) => name.endsWith(".tmp"));
    const outcome = await killedWhen(child, isOpen, signal);
    const advice = "no units are used; to start again, run: idv emails -o out.csv, with the same input";
    const stderr = `idv: stopped by ${signal}; out.csv was not written; ${advice}\n`;
    expect(outcome).toMatchObject({ code: expected, stderr });
    expect(readFileSync(join(home, "out.csv"), "utf8")).toBe("old");
    expect(readdirSync(home).sort()).toEqual(["out.csv", "state"]);
  });

  // Elsewhere, a thread waits for the pipe.
  const onLinux = test.runIf(process.platform === "linux");

  onLinux.each([
    ["nobody writes to", () => undefined],
    // Opened for reading too, so that it opens at once.
    ["a writer is silent", (pipe: string) => openSync(pipe, constants.O_RDWR)],
  ])("one ends a run that waits for a named pipe that %s", async (_, write) => {
    const home = folderWith();
    const pipe = join(home, "pipe");
    await finished(spawn("mkfifo", [pipe]));
    const writer = write(pipe);
    const child = startIdv(["emails", "pipe", "-o", "out.csv"], { home });
    const outcome = await killedWhen(child, () => isOpenIn(child, pipe), "SIGINT");
    const advice = "no units are used; to start again, run: idv emails pipe -o out.csv";
    const stderr = `idv: stopped by SIGINT; out.csv was not written; ${advice}\n`;
    expect(outcome).toEqual({ code: 130, stdout: "", stderr });
    if (writer !== undefined) closeSync(writer);
  });

  onLinux("a failure ends a run although the writer of its named pipe is silent", async () => {
    const { url } = await scriptedServer(respond(401, {}, "{}"));
    // More than the sample, so that the run starts.
    const home = folderWith({ "l.csv": "ann@larch-and-oak.com\n".repeat(20_000) });
    await finished(spawn("mkfifo", [join(home, "pipe")]));
    const writer = spawn("sh", ["-c", "cat l.csv - > pipe"], { cwd: home });
    const child = startIdv(["emails", "pipe", "-q", "-o", "out.csv", "--set", "batchSize=1"], {
      ...{ home, env: { IDV_API_KEY: "sk_1", IDV_BASE_URL: url } },
    });
    const { code, stderr } = await finished(child);
    expect({ code }, stderr).toEqual({ code: 3 });
    writer.stdin.end();
  });
});

/** Returns whether a process has opened a file. */
function isOpenIn({ pid }: ChildProcess, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((descriptor) => {
    try {
      return readlinkSync(join(folder, descriptor)) === path;
    } catch {
      // Closed meanwhile.
      return false;
    }
  });
}
