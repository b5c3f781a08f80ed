/** Covers the GitHub Action: run as a runner does, with inputs and files of outputs in variables. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { finished, program } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const { inputs, outputs, runs } = parse(readFileSync(join(root, "src/package/action/action.yml"), "utf8"));

/** Runs the action in a folder; returns what it prints, its outputs and the summary of the job. */
async function act(home: string, given: Readonly<Record<string, string>>) {
  for (const name of ["output", "summary"]) writeFileSync(join(home, name), "");
  const all: Record<string, string> = {};
  for (const [name, input] of Object.entries<{ default?: string }>(inputs)) {
    all[`INPUT_${name.toUpperCase()}`] = given[name] ?? input.default ?? "";
  }
  const env = {
    ...{ PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(home, "state"), RUNNER_TEMP: home },
    ...{ GITHUB_OUTPUT: join(home, "output"), GITHUB_STEP_SUMMARY: join(home, "summary"), GITHUB_ACTIONS: "true" },
    ...all,
  };
  const script = join(dirname(program), "..", runs.main);
  const { code, stdout, stderr } = await finished(spawn(process.execPath, [script], { cwd: home, env }));
  const lines = readFileSync(join(home, "output"), "utf8").trim().split("\n");
  const set = Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2)));
  return { code, stdout, stderr, set, summary: readFileSync(join(home, "summary"), "utf8") };
}

const list = "email\nann@larch-and-oak.com\nx@mailinator.com\ny@gmial.com\n\n";

// A binary has no such file.
describe.skipIf(!program.endsWith(".js"))("the action", () => {
  test("fails on bad rows, and gives counts, annotations, a summary and a report", async () => {
    const home = folderOf({ "list.csv": list });
    const { code, stdout, stderr, set, summary } = await act(home, { files: "list.csv" });
    expect(code, stderr).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^::\w+ file=list\.csv,line=3/m);
    expect(set).toMatchObject({ rows: "4", ok: "1", disposable: "1", fake: "1", empty: "1", "exit-code": "1" });
    expect(Object.keys(set).sort()).toEqual(Object.keys(outputs).sort());
    expect(summary).toContain("**1 of 3 addresses is fit for a mailing.**");
    expect(readFileSync(set["report"]!, "utf8")).toContain("1 of 3 addresses is fit for a mailing.");
    expect(readFileSync(join(set["checked"]!, "list.csv"), "utf8")).toContain("x@mailinator.com,disposable\n");
  });

  test("passes up to a limit, takes several files and options", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": list });
    const { code, stderr, set } = await act(home, {
      ...{ files: "a.csv\nb.csv\n", column: "email", "max-bad": "4", report: "page.html" },
      options: "--explain\n--output out/\n",
    });
    expect(code, stderr).toBe(0);
    const report = join(home, "page.html");
    expect(set).toMatchObject({ rows: "8", disposable: "2", fake: "2", "exit-code": "0", report });
    expect(set).not.toHaveProperty("checked");
    expect(readFileSync(join(home, "out/b.csv"), "utf8")).toContain("typo-domain: gmial.com");
  });

  test.skipIf(Number(process.versions.node.split(".")[0]) < 22)("takes patterns", async () => {
    const home = folderOf({ "a.csv": list, "b.csv": list });
    expect((await act(home, { files: "*.csv", "fail-on": "none" })).set).toMatchObject({ rows: "8" });
  });

  test("takes a file for a file, whatever its name, and options for themselves", async () => {
    const home = folderOf({ "--allow=d.csv": list, "d.csv": "mailinator.com\n" });
    const { code, set } = await act(home, { files: "--allow=d.csv", options: "--encoding :UTF-8" });
    expect({ code, set }).toMatchObject({ code: 1, set: { disposable: "1" } });
    expect(readFileSync(join(set["checked"]!, "--allow=d.csv"), "utf8")).toContain(",disposable\n");
  });

  test("exits with 2 without a file, and with the code of a run that fails", async () => {
    const home = folderOf({ "list.csv": list });
    const stdout = '::error::no file matches the input "files": x.csv\n';
    expect(await act(home, { files: "list.csv\nx.csv" })).toMatchObject({ code: 2, stdout });
    const { code, set, stderr } = await act(home, { files: "list.csv", options: "--no-such-option" });
    expect({ code, set }).toMatchObject({ code: 2, set: { rows: "0", "exit-code": "2" } });
    expect(stderr).toContain("--no-such-option");
    // The page of the job shows why.
    const failed = await act(home, { files: "list.csv", column: "work email" });
    expect(failed.stderr).toMatch(/^::error::idv: no column "work email" \(did you mean "email"\?\); .*$/m);
  });
});
