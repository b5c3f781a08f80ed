/** Covers names of outputs: the format that they decide, and those that are refused. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idv } from "../../../support/run-here.js";
import { folderOf } from "../../../support/temporary-folder.js";

const list = "id;email\n1;ann@larch-and-oak.com\n2;b@mailinator.com\n";

describe("the name of the output", () => {
  test.each<[string, string, string]>([
    ["o.csv", list, "id;email;status\n1;ann@larch-and-oak.com;ok\n2;b@mailinator.com;disposable\n"],
    ["o.tsv", list, "id\temail\tstatus\n1\tann@larch-and-oak.com\tok\n2\tb@mailinator.com\tdisposable\n"],
    [
      "o.csv",
      list.replaceAll(";", "\t"),
      "id,email,status\n1,ann@larch-and-oak.com,ok\n2,b@mailinator.com,disposable\n",
    ],
    ["o.txt", list, "id;email;status\n1;ann@larch-and-oak.com;ok\n2;b@mailinator.com;disposable\n"],
    [
      "o.jsonl",
      list,
      '{"id":"1","email":"ann@larch-and-oak.com","status":"ok"}\n{"id":"2","email":"b@mailinator.com","status":"disposable"}\n',
    ],
    ["o.csv", '{"email":"b@mailinator.com"}\n', "email,status\nb@mailinator.com,disposable\n"],
    [
      "o.json",
      list,
      '[\n{"id":"1","email":"ann@larch-and-oak.com","status":"ok"},\n{"id":"2","email":"b@mailinator.com","status":"disposable"}\n]\n',
    ],
    [
      "o.json",
      '{"n": 1e2}\r\n\r\n{"email": "b@c.de"}\r\n',
      '[\n{"n": 1e2,"status": ""},\n{"email": "b@c.de","status": "ok"}\n]\n',
    ],
    ["o.json", "email\n", "[\n]\n"],
    ["o.csv", '[{"email":"b@mailinator.com"}]', "email,status\nb@mailinator.com,disposable\n"],
    [
      "o.jsonl",
      '[\n  {"email": "b@mailinator.com", "a": " \\"{ "}, 7 ]',
      '{"email":"b@mailinator.com","a":" \\"{ ","status":"disposable"}\n',
    ],
  ])("%s decides its format: %j", async (name, input, expected) => {
    const home = folderOf({ l: input });
    const { code, stderr } = await idv(["emails", "l", "-o", name], { home });
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(home, name), "utf8")).toBe(expected);
  });

  test.each([
    ["o.feather", "name it .csv, .tsv, .jsonl, .json or .xlsx"],
    ["o.ods", ".ods cannot be written"],
    ["o.parquet", ".parquet cannot be written"],
    ["o.csv.bz2", ".bz2 cannot be written"],
  ])("%s is refused before anything is read", async (name, advice) => {
    const home = folderOf({});
    const { code, stderr } = await idv(["emails", "missing", "-o", name], { home });
    expect({ code, isThere: existsSync(join(home, name)) }).toEqual({ code: 2, isThere: false });
    expect(stderr).toContain(advice);
  });

  test.each(["--report", "--split"])("%s - is refused before anything is read", async (option) => {
    const home = folderOf({});
    const { code, stderr } = await idv(["emails", "missing", option, "-"], { home });
    expect({ code, isThere: existsSync(join(home, "-")) }).toEqual({ code: 2, isThere: false });
    expect(stderr).toContain("It takes a path; for one that is -, write ./-.");
  });
});
