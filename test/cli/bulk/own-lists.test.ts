/** Covers allow and deny lists and canonical addresses on the command line. */
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const stdin = "a@gmial.com\nBoss@mailinator.com\nb@mailinator.com\nann@larch-and-oak.com\n";
const files = {
  "allow.txt": "\ufeff# mine\r\ngmial.com\r\n",
  "boss.txt": "boss@mailinator.com",
  "deny.txt": "larch-and-oak.com\n",
  "more.txt": "news@*\n",
  "wrong.txt": "b.net\ntwo words\n",
  "suffix.txt": "b.net\ncom\n",
  "mx.txt": "mx:b.net\n",
};

const checked =
  "a@gmial.com,ok\nBoss@mailinator.com,ok\nb@mailinator.com,disposable\nann@larch-and-oak.com,disposable\n";

describe("allow and deny lists", () => {
  const options = ["--allow", "allow.txt", "--allow", "boss.txt", "--deny", "deny.txt"];

  test.each<[string, string[], Record<string, string>]>([
    ["from options", options, {}],
    ["from the environment", [], { IDV_ALLOW: "allow.txt:boss.txt", IDV_DENY: "deny.txt" }],
    ["from options rather than the environment", options, { IDV_DENY: "missing.txt" }],
  ])("apply %s", async (_, args, env) => {
    const { code, stdout } = await idv(["emails", "-q", ...args], { home: folderOf(files), env, stdin });
    expect({ code, stdout }).toEqual({ code: 0, stdout: checked });
  });

  test.each([
    ["UTF-16", Buffer.from("\ufefflarch-and-oak.com\r\n", "utf16le"), 0, "ann@larch-and-oak.com,disposable\n"],
    ["UTF-16, the other way round", Buffer.from("\ufefflarch-and-oak.com\n", "utf16le").swap16(), 0, ",disposable\n"],
    ["a comment in Latin-1", Buffer.from("# soci\u00e9t\u00e9\nlarch-and-oak.com\n", "latin1"), 0, ",disposable\n"],
    ["Latin-1", Buffer.from("b\u00fccher.de\n", "latin1"), 2, "idv: deny.txt: is not UTF-8; save it as UTF-8\n"],
  ])("are read as their bytes say: %s", async (_, list, code, text) => {
    const home = folderOf({ ...files, "deny.txt": list });
    const run = await idv(["emails", "-q", "--deny", "deny.txt"], { home, stdin });
    expect([run.code, run.stdout + run.stderr]).toEqual([code, expect.stringContaining(text)]);
  });

  test("with --allow-only, must not be empty", async () => {
    const home = folderOf({ ...files, "none.txt": "# nobody yet\n" });
    const { code, stdout, stderr } = await idv(["emails", "--allow-only", "none.txt"], { home, stdin });
    const message = "idv: --allow-only none.txt: has no entry, so everything would be disposable\n";
    expect([code, stdout, stderr]).toEqual([2, "", message]);
  });

  test("with --allow-only, leave nothing else", async () => {
    const home = folderOf(files);
    const lists = ["--allow-only", "allow.txt", "--allow-only", "boss.txt", "--allow", "more.txt"];
    const input = `${stdin}c@gmail.com\nNews@gmail.com\n`;
    const { stdout } = await idv(["emails", "-q", ...lists], { home, stdin: input });
    expect(stdout).toBe(`${checked}c@gmail.com,disposable\nNews@gmail.com,ok\n`);
    const check = await idv(["check", "c@gmail.com", ...lists], { home });
    expect(check.stdout).toBe("c@gmail.com\tdisposable\tdeny-list: *\n");
  });

  test("apply to idv check", async () => {
    const { stdout } = await idv(["check", "ann@larch-and-oak.com", ...options], { home: folderOf(files) });
    expect(stdout).toBe("ann@larch-and-oak.com\tdisposable\tdeny-list: larch-and-oak.com\n");
  });

  test.each<[string, number, string]>([
    ["missing.txt", 6, "missing.txt: cannot be read: no such file"],
    ["b.net", 6, "b.net: cannot be read: no such file; for one entry, run idv deny add b.net"],
    ["wrong.txt", 2, "wrong.txt:2: neither a domain nor an address: a space in the domain"],
    ["suffix.txt", 2, "suffix.txt:2: neither a domain nor an address: a public suffix; write .com for all below it"],
    ["mx.txt", 2, "mx.txt:1: neither a domain nor an address: only a deny list takes mx:"],
  ])("end the run with the reason: %s", async (name, expected, message) => {
    const option = name === "mx.txt" ? "--allow" : "--deny";
    const outcome = await idv(["emails", option, name], { home: folderOf(files), stdin });
    expect(outcome).toEqual({ code: expected, stdout: "", stderr: `idv: ${message}\n` });
  });
});

describe("canonical addresses", () => {
  const rows = "Ann.Lee+x@GoogleMail.com,1\nannlee@gmail.com,2\nnot an address,3\n,4\nAnnLee@gmail.com,5\n";

  const [alias, ok, rest] = ["Ann.Lee+x@GoogleMail.com,1,alias", "annlee@gmail.com,2,ok", "not an address,3,fake\n,4,"];
  test.each([
    ["--dedupe=canonical", `${alias}\n${rest}\n`],
    // Once among the rows that --drop leaves.
    ["--dedupe=canonical --drop alias", `${ok}\n${rest}\n`],
    ["--dedupe", `${alias}\n${ok}\n${rest}\n`],
  ])("stay once with %s", async (options, expected) => {
    const run = await idv(["emails", "-q", ...options.split(" ")], { stdin: `email,n\n${rows}` });
    expect(run).toMatchObject({ code: 0, stdout: `email,n,status\n${expected}` });
  });

  test("appear with --add canonical", async () => {
    const run = await idv(["emails", "-q", "--add", "canonical"], { stdin: `email,n\n${rows}` });
    const found = `${alias},annlee@gmail.com\n${ok},annlee@gmail.com\nnot an address,3,fake,\n,4,,\n`;
    expect(run).toMatchObject({
      code: 0,
      stdout: `email,n,status,canonical\n${found}AnnLee@gmail.com,5,ok,annlee@gmail.com\n`,
    });
  });

  test("need --dedupe=canonical: --dedupe=other is a usage error", async () => {
    const stderr = 'idv: --dedupe: "other" is invalid. It takes one of item, canonical.\n';
    expect(await idv(["emails", "--dedupe=other"])).toMatchObject({ code: 2, stderr });
  });
});
