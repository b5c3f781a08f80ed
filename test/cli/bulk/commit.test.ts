/** Covers how the outputs of a run are committed if its input changes meanwhile. */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commitOutputs } from "../../../src/cli/bulk/commit.js";
import { openInputFile } from "../../../src/files/input.js";
import { openCopy, openOutputFile } from "../../../src/files/output.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** Runs the commit of list.csv's output and calls `meanwhile` when the output has been synced. */
async function replace(isInPlace: boolean, meanwhile: (path: string) => void) {
  const folder = temporaryFolder();
  const path = join(folder, "list.csv");
  writeFileSync(path, "email\nann@b.net\n");
  const input = await openInputFile(path, new AbortController().signal);
  onTestFinished(() => input.close());
  writeFileSync(join(folder, "list.csv.bak"), "of last night\n");
  const output = join(folder, isInPlace ? "list.csv" : "out.csv");
  const sink = await openOutputFile(output);
  await sink.write(Buffer.from("email,status\nann@b.net,ok\n"));
  const notes: string[] = [];
  const slowSink = {
    ...sink,
    async prepare() {
      await sink.prepare?.();
      meanwhile(path);
    },
  };
  const committed = commitOutputs({
    input,
    inputName: "list.csv",
    isInPlace,
    sink: slowSink,
    backup: await openCopy(path, join(folder, "list.csv.bak")),
    note: (text) => notes.push(text),
    appear: async () => {},
  });
  const error = await committed.then(
    () => undefined,
    ({ message }: Error) => message,
  );
  return { error, notes, read: (name: string) => readFileSync(join(folder, name), "utf8") };
}

const appendRow = (path: string) => appendFileSync(path, "late@b.net\n");

test("does not replace a list in place if it has grown meanwhile", async () => {
  const { error, read } = await replace(true, appendRow);
  expect(error).toBe("list.csv has changed while it was read; it is left as it is now; run again");
  expect(read("list.csv")).toBe("email\nann@b.net\nlate@b.net\n");
  expect(read("list.csv.bak")).toBe("of last night\n");
});

test("keeps the previous backup if another run has replaced the list meanwhile", async () => {
  const { error, read } = await replace(true, (path) => {
    writeFileSync(`${path}.new`, "email,status\n");
    renameSync(`${path}.new`, path);
  });
  expect(error).toBe("list.csv has changed while it was read; it is left as it is now; run again");
  expect(read("list.csv")).toBe("email,status\n");
  expect(read("list.csv.bak")).toBe("of last night\n");
});

test("warns about a list that has grown if the output is another file", async () => {
  const { error, notes, read } = await replace(false, appendRow);
  expect(error).toBeUndefined();
  expect(notes).toEqual(["list.csv has changed while it was read; rows that came later may be missing"]);
  expect(read("out.csv")).toBe("email,status\nann@b.net,ok\n");
});

test("replaces an unchanged list and keeps a complete backup", async () => {
  const { error, read } = await replace(true, () => {});
  expect(error).toBeUndefined();
  expect(read("list.csv")).toBe("email,status\nann@b.net,ok\n");
  expect(read("list.csv.bak")).toBe("email\nann@b.net\n");
});
