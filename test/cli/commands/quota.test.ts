/** Covers `idv quota`: what it refuses, and which file it takes. */
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

describe("idv quota", () => {
  test.each([
    [["quota", "set"], "quota set needs --limit N|none or --period none|hour|day|month"],
    [["quota", "set", "--limit", "-1"], '--limit: "-1" is invalid. It takes a whole number, such as 10000, or none.'],
    [
      ["quota", "set", "--limit", "many"],
      '--limit: "many" is invalid. It takes a whole number, such as 10000, or none.',
    ],
    [["quota", "set", "--period", "week"], '--period: "week" is invalid. It takes one of none, hour, day, month.'],
  ])("rejects %j", async (args, message) => {
    expect(await idv(args)).toEqual({ code: 2, stdout: "", stderr: `idv: ${message}\n` });
  });

  test("a run says that a named file is new", async () => {
    const home = folderOf({ "list.csv": "email\nann@larch-and-oak.com\n" });
    const run = async (...args: string[]) =>
      (await idv(["emails", "list.csv", "--quota", "qouta.db", "-o", "out.csv", ...args], { home })).stderr;
    expect(await run("-q")).toContain("idv: qouta.db: a new quota file, without a limit\n");
    expect(await run()).not.toContain("new quota file");
  });

  test("says that a named file is not there, and that a period alone means nothing", async () => {
    const home = temporaryFolder();
    const shown = await idv(["quota", "show", "--quota", "none.db"], { home });
    expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining("none.db: there is no such file")]);
    const reset = await idv(["quota", "reset", "--quota", "none.db"], { home });
    const advice = "none.db: there is no such file; idv quota set --limit N creates it";
    expect(reset).toEqual({ code: 6, stdout: "", stderr: `idv: ${advice}\n` });
    expect((await idv(["quota", "set", "--period", "day"], { home })).stderr).toContain("add --limit N");
  });

  test("takes the file from the option, the variable or the XDG folder, in this order", async () => {
    const home = temporaryFolder();
    const where = async (args: string[], env: Record<string, string>) =>
      JSON.parse((await idv(["quota", "show", "--json", ...args], { home, env })).stdout).file;
    expect(await where(["--quota", "/x/a.db"], { IDV_QUOTA: "/x/b.db" })).toBe("/x/a.db");
    expect(await where([], { IDV_QUOTA: "/x/b.db" })).toBe("/x/b.db");
    expect(await where([], { IDV_QUOTA: "", XDG_STATE_HOME: "/x" })).toBe("/x/idv/quota.db");
    expect(await where([], { XDG_STATE_HOME: "" })).toBe(`${home}/.local/state/idv/quota.db`);
    expect(await where([], { XDG_STATE_HOME: "relative" })).toBe(`${home}/.local/state/idv/quota.db`);
  });
});
