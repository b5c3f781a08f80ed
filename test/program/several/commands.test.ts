/** Covers the help, the commands check and quota, and the program on a terminal. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { oldDataRemark } from "../../../src/cli/bulk/report/summary.js";
import { daysOld } from "../../../src/core/classifier/tables/disposable-table.js";
import { idv, program, shellCommand } from "../../support/run-idv.js";
import { respond, scriptedServer } from "../../support/scripted-server.js";
import { createKey } from "../../support/service.js";
import { jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

const execute = promisify(execFile);
const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));

describe("idv", () => {
  test("--version --json names what it runs on", async () => {
    const form = program.endsWith(".js") ? "package" : "binary";
    const { platform, arch } = process;
    const facts = { version, form, runtime: "node", node: expect.stringMatching(/^\d+\./), platform, arch };
    expect(await jsonOf(["--version"])).toEqual([facts]);
  });

  test("--version prints the version", async () => {
    expect(await idv(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("--help has a line for every command, in 80 columns", async () => {
    const { code, stdout, stderr } = await idv(["--help"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.filter((line) => /^ {2}[a-z]+ {2,}/.test(line))).toHaveLength(20);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/Validate:\n {2}emails .*This machine:.*Your own service:.*idv help: recipes, tables/s);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test.each([
    ["emails --help", /^Usage: idv emails .*Exit codes:\n {2}0 {2}done\n/s],
    ["help exit-codes", /^EXIT CODES\n/],
  ])("%s prints the help of the command or topic", async (words, text) => {
    const outcome = await idv(words.split(" "));
    expect(outcome).toEqual({ code: 0, stdout: expect.stringMatching(text), stderr: "" });
  });

  const topics = "recipes, tables, settings, statuses, service, machines, exit-codes, environment";
  test.each([
    ["help colours", `unknown topic colours; topics: ${topics}`],
    ["email", "unknown command email (did you mean emails?); see idv --help"],
  ])("%s is refused with what there is", async (words, message) => {
    expect(await idv(words.split(" "))).toEqual({ code: 2, stdout: "", stderr: `idv: ${message}\n` });
  });

  test("help with a command prints that command's help", async () => {
    expect((await idv(["help", "check"])).stdout).toBe((await idv(["check", "--help"])).stdout);
  });

  test("without a command prints the help and exits with 2", async () => {
    expect(await idv([])).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("Usage: idv COMMAND") });
  });

  test.each([
    ["quota", "show"],
    ["keys", "list"],
    ["allow", "list"],
    ["cache", "stats"],
    ["data", "show"],
  ])("%s alone is %s of it", async (group, shows) => {
    const home = temporaryFolder();
    await idv(["quota", "set", "--limit", "5"], { home });
    const alone = await idv([group], { home });
    expect(alone).toEqual(await idv([group, shows], { home }));
    expect((await idv([group, "--help"], { home })).stdout).toContain(`Usage: idv ${group}`);
    expect((await idv([group, "nothing"], { home })).code).toBe(2);
  });
});

test("idv check prints a line for each value and charges nothing", async () => {
  const home = temporaryFolder();
  const lines = [
    "ann.lee@gmial.com\tfake\ttypo-domain: gmial.com\tann.lee@gmail.com",
    "mailinator.com\tdisposable\tdisposable-domain: mailinator.com",
    "https://larch-and-oak.com/x\tok",
    "Ann <ann+news@larch-and-oak.com>\talias\tsub-address: +news",
  ];
  const values = lines.map((line) => line.split("\t")[0]!);
  expect(await idv(["check", ...values], { home })).toEqual({ code: 0, stdout: `${lines.join("\n")}\n`, stderr: "" });
  expect(await jsonOf(["quota", "show"], { home })).toMatchObject([{ used: 0 }]);
});

test("idv quota shows, sets and resets the limit", async () => {
  const home = temporaryFolder();
  const show = async () => (await jsonOf(["quota", "show"], { home }))[0];
  const file = `${home}/state/idv/quota.db`;
  expect(await show()).toEqual({ file, limit: null, period: "none", used: 0, left: null, renews: null });
  const { stdout } = await idv(["quota", "set", "--limit", "10000", "--period", "month"], { home });
  expect(stdout).toMatch(
    /^file: {4}.*\nlimit: {3}10,000\nperiod: {2}month\nused: {4}0\nleft: {4}10,000\nrenews: {2}\d{4}-\d\d-01T00:00:00.000Z\n$/,
  );
  await idv(["emails"], { home, stdin: "a@larch-and-oak.com\nb@larch-and-oak.com\nA@larch-and-oak.com\n" });
  expect(await show()).toMatchObject({ limit: 10_000, period: "month", used: 2, left: 9998 });
  await idv(["quota", "reset"], { home });
  expect(await show()).toMatchObject({ limit: 10_000, used: 0 });
  await idv(["quota", "set", "--limit", "none"], { home });
  expect(await show()).toMatchObject({ limit: null, period: "month", left: null });
});

/** Whether script(1) of util-linux is installed, which gives a program a terminal. */
const hasScript = (() => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux");
  } catch {
    return false;
  }
})();

describe.skipIf(!hasScript).concurrent("on a terminal", () => {
  const hiddenCursor = "\u001b[?25l";

  /** Runs a command line, and creates the file `drawn` in its folder once it has drawn a progress line with rows. */
  const onTerminal = async (command: string, env: Record<string, string> = {}, typed = "") => {
    const folder = temporaryFolder();
    const running = execute("script", ["-qec", command.replaceAll("idv ", `${shellCommand} `), "/dev/null"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: temporaryFolder(), TERM: "xterm", ...env },
      encoding: "utf8",
    });
    let output = "";
    running.child.stdout?.on("data", (part: string) => {
      output += part;
      // As a person does: only after the program has asked.
      if (typed !== "" && output.includes("Ctrl-D")) {
        running.child.stdin?.write(typed);
        typed = "";
      }
      if (/[\d,]+ rows {2}[\d,]+\/s/.test(output)) writeFileSync(join(folder, "drawn"), "");
    });
    return (await running).stdout;
  };

  test("shows six lines and exits with 2 without FILE", async ({ expect }) => {
    const lines = (await onTerminal("idv emails; echo exit $?")).trim().split("\r\n");
    expect(lines[0]).toBe("Usage: idv emails [FILE...] [options]");
    expect([lines.length, lines.at(-1)]).toEqual([7, "exit 2"]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  const untilDrawn = "until [ -e drawn ]; do sleep 0.05; done";
  const lines = "(echo email; seq -f 'user%g@larch-and-oak.com' 9000; WAIT)";
  const slow = `stty columns 80; ${lines} | idv emails > /dev/null`;

  test("shows a progress line and removes it at the end", async ({ expect }) => {
    const output = await onTerminal(slow.replace("WAIT", untilDrawn));
    expect(output).toContain('standard input  column 1 "email"  offline');
    expect(output).toMatch(/[\d,]+ rows {2}[\d,]+\/s/);
    expect(output.split(hiddenCursor)).toHaveLength(2);
    expect(output.lastIndexOf("\u001b[?25h")).toBeGreaterThan(output.lastIndexOf(hiddenCursor));
    expect(output).toContain("9,000 rows, 9,000 distinct");
  });

  test("says that it waits for what is typed", async ({ expect }) => {
    const output = await onTerminal("idv emails - -o o.csv; cat o.csv", {}, "email\nann@web.de\n\u0004");
    expect(output).toContain("idv: reading standard input; Ctrl-D ends it");
    expect(output).toContain("ann@web.de,ok");
  });

  test("mentions old lists once a run, below the summary", async ({ expect }) => {
    const [{ sources }] = await jsonOf(["data", "show"]);
    const isOld = oldDataRemark({ dataDays: daysOld(sources, Date.now()) ?? null }) !== undefined;
    const lists = "printf 'email\\nann@web.de\\n' | tee a.csv > b.csv; mkdir out;";
    const output = await onTerminal(`${lists} idv emails --offline a.csv b.csv -o out/`);
    expect(output.split("days old")).toHaveLength(isOld ? 2 : 1);
    if (isOld) expect(output).toMatch(/units? used.*units? used.*days old/s);
  });

  test("shows the keys in 100 columns, and all about them with --long", async ({ expect }) => {
    const home = temporaryFolder();
    await createKey(home, { name: "the shop, and all of its newsletters", limit: 10_000 });
    const env = { XDG_STATE_HOME: join(home, "state") };
    const output = await onTerminal(
      "stty columns 100; idv keys list; echo LONG; stty columns 400; idv keys list --long",
      env,
    );
    const [short = "", long = ""] = output.replace(/\u001b\[\d*m/g, "").split("LONG");
    expect(short).toContain("the shop");
    expect(Math.max(...short.split("\r\n").map(({ length }) => length))).toBeLessThanOrEqual(100);
    const heads = (text: string) => /^id .*$/m.exec(text)?.[0].trim().split(/ {2,}/).length ?? 0;
    expect(heads(long)).toBeGreaterThan(heads(short));
  });

  test("shows a cell in each line where the terminal is too narrow", async ({ expect }) => {
    const narrow = await onTerminal("stty columns 40; idv check ann.lee@gmial.com bob@web.de");
    expect(narrow.replace(/\u001b\[\d*m/g, "").split("\r\n")).toEqual([
      ...["value       ann.lee@gmial.com", "status      fake", "reason      typo-domain: gmial.com"],
      ...["suggestion  ann.lee@gmail.com", "", "value       bob@web.de", "status      ok", ""],
    ]);
  });

  test("says what the service is asked, and why the run waits", async ({ expect }) => {
    const server = await scriptedServer(respond(), respond(429, { "retry-after": "2" }, "{}"), respond());
    const env = { IDV_API_KEY: "sk_1", IDV_BASE_URL: server.url, LC_ALL: "C.UTF-8" };
    const list = "(echo email; seq -f 'user%g@larch-and-oak.com' 150)";
    const output = await onTerminal(`stty columns 100; ${list} | idv emails --set concurrency=1 > /dev/null`, env);
    expect(output).toMatch(/0 batches out · \d+ units · waiting [12] s: the service asks to slow down/);
  });

  test("Ctrl-C, which also ends the program that writes the input, leaves no incomplete output", async ({ expect }) => {
    const folder = temporaryFolder();
    const run = `${lines.replace("WAIT", "sleep 20")} | ${shellCommand} emails -o out.csv`;
    const child = spawn("script", ["-qec", `stty columns 80; ${run}`, "/dev/null"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, TERM: "xterm" },
    });
    let isTyped = false;
    let output = "";
    child.stdout.on("data", (bytes: Buffer) => {
      output += bytes.toString();
      // As a person types it, once: the terminal sends SIGINT to all that run in it.
      if (output.includes("rows") && !isTyped) {
        isTyped = true;
        child.stdin.write("\u0003");
      }
    });
    const [code] = await once(child, "close");
    expect(code, output).toBe(130);
    expect(output).toContain("idv: stopped by SIGINT; out.csv was not written");
    expect(output.lastIndexOf("\u001b[?25h")).toBeGreaterThan(output.lastIndexOf(hiddenCursor));
    expect(readdirSync(folder).filter((name) => /^out|^\.out/.test(name))).toEqual([]);
  });

  test("shows the line of a broken table, which a log must not hold", async ({ expect }) => {
    const command = `printf 'email,name\\nann@larch-and-oak.com,A,B,\\033[2J\\n' | idv emails -q -o o.csv || true`;
    // With -q, no remark on the age of the lists comes first.
    const [message, line] = (await onTerminal(command)).split("\r\n");
    expect(message).toMatch(/^idv: standard input:2: 4 fields where the header has 2; /);
    expect(line).toBe("  2 | ann@larch-and-oak.com,A,B,\\u{1b}[2J");
    expect(await onTerminal(`(${command}) 2> log; cat log`)).not.toContain("ann@");
  });

  test("aligns lists under a header, and colours statuses", async ({ expect }) => {
    const output = await onTerminal("stty columns 100; idv check ann.lee@gmial.com mailinator.com");
    const [header, first, second] = output.replace(/\u001b\[\d*m/g, "").split("\r\n");
    expect(header).toMatch(/^value {14}status {6}reason/);
    expect(first).toBe("ann.lee@gmial.com  fake        typo-domain: gmial.com             ann.lee@gmail.com");
    expect(second).toBe("mailinator.com     disposable  disposable-domain: mailinator.com");
    expect(output).toContain("\u001b[31mfake");
  });

  test.each(some(["always", "auto", "never"], 2))("--color %s", async (choice) => {
    const coloured = /\u001b\[3\dm/;
    const args = `--color ${choice}`;
    const terminal = await onTerminal(`idv check ${args} a@mailinator.com`);
    expect(coloured.test(terminal)).toBe(choice !== "never");
    // In a file, only the summary could have colours; a list has none in a pipe.
    const file = await onTerminal(`idv check ${args} a@mailinator.com | cat`);
    expect(file).toBe("a@mailinator.com\tdisposable\tdisposable-domain: mailinator.com\r\n");
    const forced = await onTerminal(`idv check ${args} a@mailinator.com`, { NO_COLOR: "1" });
    expect(coloured.test(forced)).toBe(choice === "always");
  });

  test("shows the progress line without colours with NO_COLOR", async ({ expect }) => {
    const output = await onTerminal(slow.replace("WAIT", untilDrawn), { NO_COLOR: "1" });
    expect(output).toContain(hiddenCursor);
    expect(output).not.toMatch(/\u001b\[\d*m/);
  });

  test("ends the run cleanly on Ctrl-C while the progress line is shown", async ({ expect }) => {
    const output = await onTerminal(
      "stty columns 80; mkfifo fifo; " +
        `${lines.replace("WAIT", "until [ -e ended ]; do sleep 0.05; done")} > fifo & ` +
        "bash -c 'trap - INT; exec \"$@\"' _ idv emails fifo -o out.csv & p=$!; " +
        `${untilDrawn}; kill -INT $p; wait $p; echo exit $?; touch ended; ls -A`,
      {},
    );
    expect(output).toContain("idv: stopped by SIGINT; out.csv was not written");
    expect(output).toContain("exit 130");
    expect(output).not.toContain(".tmp");
  });

  const plain: [string, string, Record<string, string>][] = [
    ["with CI=true", slow, { CI: "true" }],
    ["with TERM=dumb", slow, { TERM: "dumb" }],
    ["with -q", slow.replace("emails", "emails -q"), {}],
    ["without columns", slow.replace("80", "0"), {}],
  ];
  test.each(some(plain, 2))("shows no progress %s", async (_, command, env) => {
    // Nothing shows that there is no line: it would come after a tenth of a second.
    expect(await onTerminal(command.replace("WAIT", "sleep 2"), env)).not.toContain(hiddenCursor);
  });
});
