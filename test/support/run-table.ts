/** Runs a table through an engine, without files. */
import { nameColumns } from "../../src/core/run/rows/columns.js";
import { validateTable } from "../../src/core/run/run.js";
import type { RunOptions } from "../../src/core/run/run-options.js";
import type { Validator } from "../../src/core/validator/validator.js";
import { type Options, open } from "./tables.js";

interface Settings extends Partial<Omit<RunOptions, "columns" | "table">> {
  readonly table?: Options;
  readonly columns?: Parameters<typeof nameColumns>[2];
  /** Whether the column "status" of the table is that of an earlier run. */
  readonly isUpdate?: boolean;
  /** Whether the engine is asked for verdicts like a service, although it is embedded. */
  readonly isService?: boolean;
}

/** Returns an engine that has to be asked for its verdicts, like a service. */
function asService({ embedded: _, ...validator }: Validator): Validator {
  return validator;
}

/** Runs over a table given as text, bytes or chunks, and returns its rows behind the header. */
export async function runTable(
  table: string | Uint8Array | AsyncIterable<Uint8Array>,
  validator: RunOptions["validator"],
  { table: options = {}, columns, isUpdate = false, isService = false, ...settings }: Settings = {},
) {
  const opened = await open(table, { delimiter: ",", columns: ["1"], ...options });
  const named = isUpdate
    ? nameColumns(opened.names, "status", { isOurs: () => true, ...columns })
    : nameColumns(undefined, "status", columns);
  const parts: Buffer[] = [];
  const report = await validateTable({
    kind: "email",
    table: opened,
    validator: isService ? asService(validator) : validator,
    sink: {
      write: async (bytes) => void parts.push(Buffer.from(bytes)),
      commit: async () => {},
      discard: async () => {},
    },
    columns: named,
    signal: new AbortController().signal,
    // A text is a file, whose rows depend on no time.
    answersPauses: typeof table !== "string" && !(table instanceof Uint8Array),
    ...settings,
  });
  const bytes = Buffer.concat(parts);
  const output = bytes.toString();
  return { report, bytes, output, rows: output.trimEnd().split("\n").slice(1) };
}

/** Returns a table with one column of addresses. */
export const listOf = (values: readonly string[]): string => `email\n${values.map((value) => `${value}\n`).join("")}`;
