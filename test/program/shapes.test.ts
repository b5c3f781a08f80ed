/** Covers the shapes of files that other programs export: what is read, what is written, and what is refused. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../support/run-idv.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const utf8 = (binary: string) => Buffer.from(binary, "latin1").toString();

/** Runs a command on a file in a new folder, and returns its outcome and the files that are there afterwards. */
async function run(name: string, content: string | Uint8Array, ...args: string[]) {
  const home = temporaryFolder();
  writeFileSync(join(home, name), content);
  const { code, stdout, stderr } = await idv([args[0] ?? "emails", name, ...args.slice(1)], { home });
  return { code, output: utf8(stdout), stderr, files: readdirSync(home).filter((file) => file !== "state") };
}

describe("a file in which nothing looks like an item is refused", () => {
  test.each<[string, string, string, string | Uint8Array, string]>([
    [
      "domains given to emails",
      "emails",
      "domains.txt",
      "acme.com\nlarch-and-oak.com\nbrightmill.co.uk\n",
      "no line of domains.txt looks like an e-mail address; 3 of 3 are domains: idv domains domains.txt",
    ],
    [
      "names",
      "emails",
      "names.txt",
      "Ann Lee\nBob Ray\n",
      "no line of names.txt looks like an e-mail address; check the file, or name the column with -c",
    ],
    ["one name", "emails", "name.txt", "Ann", "no line of name.txt looks like an e-mail address"],
    [
      "names given to domains",
      "domains",
      "names.txt",
      "name\nAnn Lee\n",
      "no line of names.txt looks like a domain",
    ],
    ["a table of names", "emails", "t.csv", "name,town\nAnn,Ulm\n", "no column looks like e-mail addresses"],
    ["a PDF document", "emails", "a.pdf", "%PDF-1.7\n%\xe2\n", "a.pdf: a PDF document; export it as CSV"],
    [
      "an HTML page",
      "emails",
      "a.xls",
      "<html><table>",
      "a.xls: an HTML page, even if its name ends in .xls",
    ],
    ["UTF-32", "emails", "a.csv", Uint8Array.of(0xff, 0xfe, 0, 0, 97, 0, 0, 0), "a.csv: UTF-32 text"],
  ])("%s", async (_, command, name, content, message) => {
    const { code, output, stderr, files } = await run(name, content, command, "-o", "out.csv");
    expect({ code, output, files }).toEqual({ code: 2, output: "", files: [name] });
    expect(stderr).toContain(`idv: ${message}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each<[string, string]>([
    ["has a known name", "email\nasdf\n"],
    ["is blank so far", "id,email\n1,\n"],
  ])("unless the column %s", async (_, content) => {
    expect((await run("l.csv", content)).code).toBe(0);
  });
});

describe("lines above the table are copied unchanged", () => {
  test.each<[string, string, string, string[]?]>([
    [
      "a title",
      "Export from CRM\r\nid;email\r\n1;ann@larch-and-oak.com\r\n2;b@mailinator.com\r\n",
      "Export from CRM\r\nid;email;status\r\n1;ann@larch-and-oak.com;ok\r\n2;b@mailinator.com;disposable\r\n",
    ],
    [
      "a padded title",
      "Export from CRM;;\nid;email;note\n1;ann@larch-and-oak.com;\n",
      "Export from CRM;;\nid;email;note;status\n1;ann@larch-and-oak.com;;ok\n",
    ],
    [
      "LinkedIn's notes",
      'Notes:\n"You may notice, that some are missing"\n\nFirst Name,Last Name,Email Address\nAnn,Lee,ann@larch-and-oak.com\nBob,Ray,\n',
      'Notes:\n"You may notice, that some are missing"\n\nFirst Name,Last Name,Email Address,status\nAnn,Lee,ann@larch-and-oak.com,ok\nBob,Ray,,\n',
    ],
    [
      "sep=",
      "sep=;\r\nid;email\r\n1;ann@larch-and-oak.com\r\n",
      "sep=;\r\nid;email;status\r\n1;ann@larch-and-oak.com;ok\r\n",
    ],
    [
      "skipped lines",
      "id,email\nx,y\nid,email\n1,ann@larch-and-oak.com\n",
      "id,email\nx,y\nid,email,status\n1,ann@larch-and-oak.com,ok\n",
      ["--skip-lines", "2"],
    ],
    [
      "titles, read with csv-parse",
      "Export\nid,email\n1,ann@larch-and-oak.com\n2,b@mailinator.com\n",
      "Export\nid,email,status\n1,ann@larch-and-oak.com,ok\n2,b@mailinator.com,disposable\n",
      ["--strict"],
    ],
  ])("%s", async (_, content, expected, args = []) => {
    const { code, output, stderr } = await run("l.csv", content, "emails", ...args);
    expect({ code, output }, stderr).toEqual({ code: 0, output: expected });
  });

  test("and bad rows are counted from the first line of the file", async () => {
    const { code, stderr } = await run("l.csv", "Title\n\nid,email\n1,ann@larch-and-oak.com\n1,2,3\n");
    expect(code).toBe(6);
    expect(stderr).toContain("l.csv:5: 3 fields where the header has 2");
  });

  test("but no more of them than there are", async () => {
    const { code, stderr } = await run("l.csv", "a\nb\n", "emails", "--skip-lines", "3");
    expect(code).toBe(2);
    expect(stderr).toContain("l.csv: --skip-lines 3 is more than the 2 lines at its start; give fewer");
  });
});

describe("surplus fields that are empty are no fault", () => {
  test.each<[string, string, string]>([
    [
      "in every row",
      "id,email\n1,ann@larch-and-oak.com,\n2,b@mailinator.com,\n",
      "id,email,,status\n1,ann@larch-and-oak.com,,ok\n2,b@mailinator.com,,disposable\n",
    ],
    [
      "in one row",
      'id,email\n1,ann@larch-and-oak.com\n2,b@mailinator.com,"",\n3,c@mailinator.com\n',
      "id,email,status\n1,ann@larch-and-oak.com,ok\n2,b@mailinator.com,disposable\n3,c@mailinator.com,disposable\n",
    ],
  ])("%s", async (_, content, expected) => {
    for (const args of [[], ["--strict"]]) {
      const { code, output, stderr } = await run("l.csv", content, "emails", ...args);
      expect({ code, output }, stderr).toEqual({ code: 0, output: expected });
    }
  });
});
