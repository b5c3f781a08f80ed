/** `idv state`: moves the state of `idv serve` from a file to a database, or back. */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { FileError, readFault } from "../../../files/errors.js";
import { openOutputFile } from "../../../files/output.js";
import { writeWhole } from "../../../files/table-sink.js";
import { StoreError } from "../../../state/errors.js";
import type { StateRows, StateTableName, StateValues } from "../../../state/service/database/state-rows.js";
import { rowsAtOnce, stateTableNames, stateTables } from "../../../state/service/database/state-rows.js";
import { counted } from "../../../text.js";
import { checkSideOutputs } from "../../bulk/plan/side-outputs.js";
import { stateEnvironment, stateOptions, withServiceState } from "../../config/service-state.js";
import { type OptionValues, optionRecords } from "../../options/option.js";
import { filled } from "../../options/values.js";
import { standardOutput } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { type DefineCommand, describe } from "../command.js";

const exportOptions = optionRecords({
  ...stateOptions,
  output: { flags: "-o, --output <FILE>", help: "write to FILE, which only you may read", parse: filled },
});

/** The last line has the rows of each table and the SHA-256 of all lines before it; a file without it is cut off. */
const firstLine = { idv: "state", version: 3 };

export const define: DefineCommand = (state) => {
  describe(state, {
    description: "Moves the state of idv serve: its keys, quotas, usage, stored answers and audit.",
    examples: ["state export -o state.jsonl", "state import state.jsonl --state postgres://db.example.com/idv"],
    environment: stateEnvironment,
  });
  describe(state.command("export").summary("Write the state as lines of JSON."), {
    description:
      "Writes the state as lines of JSON, as of one moment. Secrets of keys are in it as hashes only.\nStop the servers first: one that is running goes on charging the old state.",
    examples: ["state export -o state.jsonl", "state export | gzip > state.jsonl.gz"],
    options: exportOptions,
    environment: stateEnvironment,
  }).action(exportState);
  describe(state.command("import").summary("Read an exported state into an empty one."), {
    description: "Reads an exported state into one without keys and quotas, all of it or nothing.",
    examples: ["state import state.jsonl --state postgres://db.example.com/idv"],
    options: stateOptions,
    environment: stateEnvironment,
  })
    .argument("[FILE]", "what idv state export has written; - or none for standard input")
    .action(importState);
  describe(state.command("check").summary("Check that the numbers of the state agree."), {
    description:
      "Checks that quotas, usage and stored answers agree with each other; with FILE, that an exported state is whole.",
    examples: ["state check", "state check state.jsonl"],
    options: stateOptions,
    environment: stateEnvironment,
    exitCodes: [6],
  })
    .argument("[FILE]", "what idv state export has written")
    .action(checkState);
};

class Counts {
  readonly #counts = new Map<StateTableName, number>();

  add({ table, rows }: StateRows): void {
    this.#counts.set(table, (this.#counts.get(table) ?? 0) + rows.length);
  }

  lastLine(hash: Hash): string {
    const end = Object.fromEntries(stateTableNames.map((name) => [name, this.#counts.get(name) ?? 0]));
    return JSON.stringify({ end, sha256: hash.copy().digest("hex") });
  }

  toString(): string {
    const count = (table: StateTableName) => this.#counts.get(table) ?? 0;
    return [
      counted(count("key"), "key"),
      counted(count("quota"), "quota"),
      counted(count("usage"), "line of usage", "lines of usage"),
      counted(count("answer"), "stored answer"),
      counted(count("audit"), "line of the audit", "lines of the audit"),
    ].join(", ");
  }
}

async function exportState({ output, ...options }: OptionValues<typeof exportOptions>): Promise<void> {
  if (output !== undefined) checkSideOutputs([{ path: output, kind: "state" }]);
  // Names of keys are private.
  process.umask(0o077);
  const counts = new Counts();
  await withServiceState(options, async (store) => {
    const sink = output === undefined ? standardOutput : await openOutputFile(output);
    await writeWhole(sink, async () => {
      const hash = createHash("sha256");
      const write = (lines: readonly unknown[]) => {
        const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
        hash.update(bytes);
        return sink.write(bytes);
      };
      await write([firstLine]);
      await store.exportRows(async (page) => {
        counts.add(page);
        await write(page.rows.map((row) => ({ [page.table]: row })));
      });
      await sink.write(Buffer.from(`${counts.lastLine(hash)}\n`));
    });
  });
  say(`exported ${counts}`);
}

async function importState(file: string | undefined, options: OptionValues<typeof stateOptions>): Promise<void> {
  const counts = new Counts();
  const pages = readPages(file === "-" ? undefined : file, counts);
  // Nothing is made for a file that is not there, or is no state.
  const first = await pages.next();
  const all = async function* () {
    if (first.done) return;
    yield first.value;
    yield* pages;
  };
  await withServiceState(options, (store) => store.importRows(all()), true);
  say(`imported ${counts}`);
}

async function checkState(file: string | undefined, options: OptionValues<typeof stateOptions>): Promise<void> {
  if (file !== undefined) {
    const counts = new Counts();
    for await (const _ of readPages(file === "-" ? undefined : file, counts));
    return say(`the file is whole: ${counts}`);
  }
  const problems = await withServiceState(options, (store) => store.check());
  for (const problem of problems) say(problem);
  if (problems.length > 0) throw new StoreError("the numbers of the state disagree; restore a backup, or report it");
  say("quotas, usage and stored answers agree");
}

/** Up to {@link rowsAtOnce} rows at a time. @throws FileError when it cannot be read, or is not an exported state */
async function* readPages(path: string | undefined, counts: Counts): AsyncGenerator<StateRows> {
  const name = path ?? "standard input";
  const input = path === undefined ? process.stdin : createReadStream(path);
  let number = 0;
  let page: { table: StateTableName; rows: StateValues[] } | undefined;
  let last = "";
  const hash = createHash("sha256");
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      const where = `${name}:${number}`;
      if (!line.startsWith('{"end":')) hash.update(`${line}\n`);
      if (number === 1) {
        if (line !== JSON.stringify(firstLine)) throw notExported(where);
        continue;
      }
      if (last !== "") throw notExported(where);
      if (line.startsWith('{"end":')) {
        last = line;
        continue;
      }
      const { table, row } = parseLine(line, where);
      if (page !== undefined && (page.table !== table || page.rows.length === rowsAtOnce)) {
        counts.add(page);
        yield page;
        page = undefined;
      }
      page ??= { table, rows: [] };
      page.rows.push(row);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new FileError(`${name}: cannot be read: ${readFault(error)}`);
  }
  if (number === 0) throw notExported(name);
  if (page !== undefined) {
    counts.add(page);
    yield page;
  }
  if (last === counts.lastLine(hash)) return;
  throw new FileError(
    last === ""
      ? `${name}: is cut off: its last line, with the number of all rows, is missing; export the state again`
      : `${name}:${number}: the last line does not match the rows above it; export the state again`,
  );
}

function notExported(where: string): FileError {
  const advice = "pass an uncompressed file from idv state export";
  return new FileError(`${where}: not a state that this version of idv has exported; ${advice}`);
}

function parseLine(line: string, where: string): { table: StateTableName; row: StateValues } {
  try {
    const [[name, row] = [], ...others] = Object.entries(JSON.parse(line) as Record<string, StateValues>);
    const table = stateTableNames.find((each) => each === name);
    const names: readonly string[] = table === undefined ? [] : stateTables[table].columns;
    const isWhole = names.every((column) => isValue(row?.[column]));
    if (table !== undefined && others.length === 0 && isWhole) return { table, row: row! };
  } catch {
    // Not JSON.
  }
  throw notExported(where);
}

const isValue = (value: unknown): boolean => value === null || typeof value === "string" || typeof value === "number";
