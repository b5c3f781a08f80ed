/** Covers the suggestions of `idv completion`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const utf8 = (binary: string) => Buffer.from(binary, "latin1").toString();

async function suggest(words: readonly string[], home?: string): Promise<string[]> {
  const { stdout } = await idv(["completion", "suggest", "--", ...words], { ...(home && { home }) });
  return utf8(stdout)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : line.split("\t")[0]!));
}

describe("the words suggested after a command line", () => {
  test.each<[string[], string[]]>([
    [["em"], ["emails"]],
    [["emails", "--only"], ["--only"]],
    [
      ["emails", "--only", ""],
      ["ok", "alias", "disposable", "fake", "quota_exceeded", "empty"],
    ],
    [["emails", "--only", "ok,f"], ["ok,fake"]],
    [["emails", "list.csv", "--only=ok,f"], ["--only=ok,fake"]],
    [["emails", "--only", "=", "f"], ["fake"]],
    [
      ["emails", "--bad-rows", "s"],
      ["skip", "skip:"],
    ],
    [["emails", "--dedupe=c"], ["--dedupe=canonical"]],
    [["emails", ""], [":files"]],
    [["emails", "-o", ""], [":files"]],
    [["emails", "--", "-"], [":files"]],
    [["quota", "set", "--period", "h"], ["hour"]],
    [["keys", "ro"], ["rotate"]],
    [["help", "st"], ["statuses"]],
    [["completion", "f"], ["fish"]],
    [["check", ""], []],
    [["nonsense", "--x=", ""], []],
  ])("%j: %j", async (words, expected) => {
    expect(await suggest(words)).toEqual(expected);
  });

  test("include the columns of the file on the line", async () => {
    const text = "id,E-Mail,Näme\n1,ann@larch-and-oak.com,Ann\n";
    const rows = "2,bob@larch-and-oak.com,Bob\n".repeat(50_000);
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
    const home = folderOf({ "list.csv": text, "list.csv.gz": gzipSync(text), "utf16.csv": utf16 });
    writeFileSync(join(home, "long.csv.gz"), gzipSync(text + rows));
    for (const file of ["list.csv", "list.csv.gz", "long.csv.gz", "utf16.csv"])
      expect(await suggest(["emails", file, "-c", ""], home), file).toEqual(["id", "E-Mail", "Näme"]);
    expect(await suggest(["emails", "list.csv", "--by", "E"], home)).toEqual(["E-Mail"]);
    expect(await suggest(["emails", "missing.csv", "-c", ""], home)).toEqual([]);
  });

  test("come with descriptions", async () => {
    const { stdout } = await idv(["completion", "suggest", "--", "emails", "--expl"]);
    expect(stdout).toBe("--explain\tadd the columns reason and suggestion; with --dns also mx\n");
  });
});

test("an unknown shell is refused", async () => {
  const { code, stderr } = await idv(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(stderr).toContain("It takes one of bash, zsh, fish, powershell.");
});
