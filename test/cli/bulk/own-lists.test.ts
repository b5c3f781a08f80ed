/** Covers allow and deny lists and canonical addresses on the command line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const stdin = "a@gmial.com\nBoss@mailinator.com\nb@mailinator.com\nann@larch-and-oak.com\n";
const files = {
  "allow.txt": "\ufeff# mine\r\ngmial.com\r\n",
  "boss.txt": "boss@mailinator.com",
  "deny.txt": "larch-and-oak.com\n",
};

function folder(): string {
  const home = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  return home;
}

const checked =
  "a@gmial.com,ok\nBoss@mailinator.com,ok\nb@mailinator.com,disposable\nann@larch-and-oak.com,disposable\n";

describe("allow and deny lists", () => {
  const options = ["--allow", "allow.txt", "--allow", "boss.txt", "--deny", "deny.txt"];

  test.each<[string, string[], Record<string, string>]>([
    ["from options", options, {}],
    ["from the environment", [], { IDV_ALLOW: "allow.txt:boss.txt", IDV_DENY: "deny.txt" }],
    ["from options rather than the environment", options, { IDV_DENY: "missing.txt" }],
  ])("apply %s", async (_, args, env) => {
    const { code, stdout } = await idv(["emails", "-q", ...args], { home: folder(), env, stdin });
    expect({ code, stdout }).toEqual({ code: 0, stdout: checked });
  });

  test("with --allow-only, leave nothing else", async () => {
    const home = folder();
    writeFileSync(join(home, "more.txt"), "news@*\n");
    const lists = ["--allow-only", "allow.txt", "--allow-only", "boss.txt", "--allow", "more.txt"];
    const input = `${stdin}c@gmail.com\nNews@gmail.com\n`;
    expect(await idv(["emails", "-q", ...lists], { home, stdin: input })).toMatchObject({
      stdout:
        "a@gmial.com,ok\nBoss@mailinator.com,ok\nb@mailinator.com,disposable\nann@larch-and-oak.com,disposable\n" +
        "c@gmail.com,disposable\nNews@gmail.com,ok\n",
    });
    const check = await idv(["check", "c@gmail.com", ...lists], { home });
    expect(check.stdout).toBe("c@gmail.com\tdisposable\tdeny-list: *\n");
  });

  test("apply to idv check", async () => {
    const { stdout } = await idv(["check", "ann@larch-and-oak.com", ...options], { home: folder() });
    expect(stdout).toBe("ann@larch-and-oak.com\tdisposable\tdeny-list: larch-and-oak.com\n");
  });

  test.each<[string, number, string]>([
    ["missing.txt", 6, "missing.txt: cannot be read: no such file"],
    ["wrong.txt", 2, "wrong.txt:2: neither a domain nor an address: a space in the domain"],
    ["mx.txt", 2, "mx.txt:1: neither a domain nor an address: only a deny list takes mx:"],
  ])("end the run with the reason: %s", async (name, expected, message) => {
    const home = folder();
    writeFileSync(join(home, "wrong.txt"), "b.net\ntwo words\n");
    writeFileSync(join(home, "mx.txt"), "mx:b.net\n");
    const option = name === "mx.txt" ? "--allow" : "--deny";
    const { code, stdout, stderr } = await idv(["emails", option, name], { home, stdin });
    expect({ code, stdout, stderr }).toEqual({ code: expected, stdout: "", stderr: `idv: ${message}\n` });
  });
});

describe("canonical addresses", () => {
  const rows = "Ann.Lee+x@GoogleMail.com,1\nannlee@gmail.com,2\nnot an address,3\n,4\nAnnLee@gmail.com,5\n";

  test.each<[string, string[], string]>([
    [
      "appear with --add canonical",
      ["--add", "canonical"],
      "email,n,status,canonical\nAnn.Lee+x@GoogleMail.com,1,alias,annlee@gmail.com\nannlee@gmail.com,2,ok,annlee@gmail.com\n" +
        "not an address,3,fake,\n,4,,\nAnnLee@gmail.com,5,ok,annlee@gmail.com\n",
    ],
    [
      "stay once with --dedupe=canonical",
      ["--dedupe=canonical"],
      "email,n,status\nAnn.Lee+x@GoogleMail.com,1,alias\nnot an address,3,fake\n,4,\n",
    ],
    [
      "stay once among the rows that --drop leaves",
      ["--dedupe=canonical", "--drop", "alias"],
      "email,n,status\nannlee@gmail.com,2,ok\nnot an address,3,fake\n,4,\n",
    ],
    [
      "do not matter to --dedupe",
      ["--dedupe"],
      "email,n,status\nAnn.Lee+x@GoogleMail.com,1,alias\nannlee@gmail.com,2,ok\nnot an address,3,fake\n,4,\n",
    ],
  ])("%s", async (_, args, expected) => {
    const { code, stdout } = await idv(["emails", "-q", ...args], { stdin: `email,n\n${rows}` });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expected });
  });

  test("need --dedupe=canonical: --dedupe=other is a usage error", async () => {
    const { code, stderr } = await idv(["emails", "--dedupe=other"]);
    expect(code).toBe(2);
    expect(stderr).toBe('idv: --dedupe: "other" is invalid. It takes one of item, canonical.\n');
  });
});
