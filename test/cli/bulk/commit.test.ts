/** Covers how the outputs of a run are committed if its input changes meanwhile. */
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commitOutputs } from "../../../src/cli/bulk/commit.js";
import { openInputFile } from "../../../src/files/input.js";
import { openOutputFile, openReplaced } from "../../../src/files/output.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

type Moment = "synced" | "charged" | "replaced";

/** Runs the commit of list.csv's output and calls `meanwhile` when the output has been synced, charged or replaced. */
async function replace(
  isInPlace: boolean,
  meanwhile: (path: string) => void,
  moment: Moment = "synced",
  first = (_path: string) => {},
) {
  const folder = temporaryFolder();
  const path = join(folder, "list.csv");
  writeFileSync(path, "email\nann@b.net\n");
  const input = await openInputFile(path, new AbortController().signal);
  onTestFinished(() => input.close());
  first(path);
  writeFileSync(join(folder, "list.csv.bak"), "of last night\n");
  const output = join(folder, isInPlace ? "list.csv" : "out.csv");
  const sink = await openOutputFile(output);
  await sink.write(Buffer.from("email,status\nann@b.net,ok\n"));
  const notes: string[] = [];
  const slowSink = {
    ...sink,
    async prepare() {
      await sink.prepare?.();
      if (moment === "synced") meanwhile(path);
    },
    async commit() {
      await sink.commit();
      if (moment === "replaced") meanwhile(path);
    },
  };
  const committed = commitOutputs({
    input,
    inputName: "list.csv",
    isInPlace,
    sink: slowSink,
    replaced: isInPlace ? await openReplaced(path, join(folder, "list.csv.bak")) : undefined,
    note: (text) => notes.push(text),
    appear: async () => (moment === "charged" ? meanwhile(path) : undefined),
  });
  const error = await committed.then(
    () => undefined,
    ({ message }: Error) => message,
  );
  if (error === undefined) expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  return { error, notes, read: (name: string) => readFileSync(join(folder, name), "utf8") };
}

const appendRow = (path: string) => appendFileSync(path, "late@b.net\n");

test("does not replace a list in place if it has grown meanwhile", async () => {
  const { error, read } = await replace(true, appendRow);
  expect(error).toBe("list.csv changed while it was read, so it is not replaced; run again");
  expect(read("list.csv")).toBe("email\nann@b.net\nlate@b.net\n");
  expect(read("list.csv.bak")).toBe("of last night\n");
});

test("does not replace a list in place if it grows while its charge waits", async () => {
  const { error, read } = await replace(true, appendRow, "charged");
  expect(error).toBe("list.csv changed while it was read, so it is not replaced; run again");
  expect(read("list.csv")).toBe("email\nann@b.net\nlate@b.net\n");
  expect(read("list.csv.bak")).toBe("of last night\n");
});

test("puts a list back that another program appends to at the moment in which it is replaced", async () => {
  let writer = 0;
  const { error, read } = await replace(
    true,
    () => {
      writeSync(writer, "late@b.net\n");
      closeSync(writer);
    },
    "replaced",
    (path) => {
      writer = openSync(path, "a");
    },
  );
  expect(error).toBe("list.csv changed while it was read, so it is not replaced; run again");
  expect(read("list.csv")).toBe("email\nann@b.net\nlate@b.net\n");
  expect(read("list.csv.bak")).toBe("email\nann@b.net\n");
});

test("keeps the previous backup if another run has replaced the list meanwhile", async () => {
  const { error, read } = await replace(true, (path) => {
    writeFileSync(`${path}.new`, "email,status\n");
    renameSync(`${path}.new`, path);
  });
  expect(error).toBe("list.csv changed while it was read, so it is not replaced; run again");
  expect(read("list.csv")).toBe("email,status\n");
  expect(read("list.csv.bak")).toBe("of last night\n");
});

test("says that a list in place is gone, not its folder", async () => {
  const { error, read } = await replace(true, (path) => rmSync(path));
  expect(error).toBe("list.csv changed while it was read, so it is not replaced; run again");
  expect(read("list.csv.bak")).toBe("of last night\n");
});

test("a list that is cut while it is read ends with an error, and its last row is not torn", async () => {
  const path = join(temporaryFolder(), "list.csv");
  writeFileSync(path, "ann@b.net\n".repeat(100_000));
  const input = await openInputFile(path, new AbortController().signal);
  onTestFinished(() => input.close());
  const read = async () => {
    for await (const _ of input.bytes) truncateSync(path, 700_004);
  };
  await expect(read()).rejects.toThrow(
    `${path} changed while it was read: cut from 1000000 to 700004 bytes; run again`,
  );
});

test("warns about a list that has grown if the output is another file", async () => {
  const { error, notes, read } = await replace(false, appendRow);
  expect(error).toBeUndefined();
  expect(notes).toEqual(["list.csv changed while it was read; rows added since may be missing"]);
  expect(read("out.csv")).toBe("email,status\nann@b.net,ok\n");
});

test("replaces an unchanged list and keeps a complete backup", async () => {
  const { error, read } = await replace(true, () => {});
  expect(error).toBeUndefined();
  expect(read("list.csv")).toBe("email,status\nann@b.net,ok\n");
  expect(read("list.csv.bak")).toBe("email\nann@b.net\n");
});
