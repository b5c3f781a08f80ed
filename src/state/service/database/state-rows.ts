/** The state of the service as rows that can be moved between stores, with the tables in the order of writing. */
import { StoreError } from "../../errors.js";
import { ask, insertion, listOf, type Parameter, type Work } from "../../sql.js";

/** The first `keyLength` columns are the key. Those of `bytes` are moved as hexadecimal digits. */
function table(columns: readonly string[], keyLength = 1, bytes: readonly string[] = []) {
  return { columns, keyLength, bytes };
}

const hashesOfAnswers = ["idempotency_key_hash", "body_hash"];

export const stateTables = {
  quota: table(["id", "name", "unit_limit", "period", "used", "period_start"]),
  key: table([
    ...["id", "name", "permissions", "is_sandbox", "created", "expires", "revoked"],
    ...["quota_id", "last_used", "rate_requests", "rate_milliseconds"],
  ]),
  secret: table(["id", "key_id", "hash", "hint", "created", "ends"], 1, ["hash"]),
  answer: table(["key_id", ...hashesOfAnswers, "statuses", "created"], 2, hashesOfAnswers),
  usage: table(["hour", "key_id", "kind", "status", "units"], 4),
  usage_sum: table(["span", "start", "key_id", "kind", "status", "units"], 5),
  audit: table(["number", "at", "who", "what", "key_id"]),
};

export type StateTableName = keyof typeof stateTables;
export const stateTableNames = Object.keys(stateTables) as StateTableName[];

export type StateValues = Readonly<Record<string, string | number | null>>;

export interface StateRows {
  readonly table: StateTableName;
  readonly rows: readonly StateValues[];
}

export const rowsAtOnce = 1000;

const unitsDelivered = `used - coalesce((SELECT CAST(sum(units) AS bigint) FROM {reservation}
  WHERE quota = {quota}.id AND period_start = {quota}.period_start), 0) AS used`;

type Run = <Result>(work: Work<Result>) => Promise<Result>;

export async function exportRows(run: Run, visit: (rows: StateRows) => Promise<void>): Promise<void> {
  for (const table of stateTableNames) {
    const { columns, keyLength } = stateTables[table];
    const key = columns.slice(0, keyLength);
    // Runs that are in the old state deliver nothing in the new one.
    const selected = columns.map((column) => (table === "quota" && column === "used" ? unitsDelivered : column));
    let last: Parameter[] | undefined;
    for (;;) {
      const after = last === undefined ? "" : `WHERE (${key.join(", ")}) > (${listOf(key)})`;
      const text = `SELECT ${selected.join(", ")} FROM {${table}} ${after} ORDER BY ${key.join(", ")} LIMIT ${rowsAtOnce}`;
      const [rows] = await run(ask<[Record<string, Parameter>[]]>([text, ...(last ?? [])]));
      if (rows.length === 0) break;
      await visit({ table, rows: rows.map(toValues) });
      last = key.map((column) => rows.at(-1)![column]!);
    }
  }
}

/** @throws StoreError when the state has keys or quotas, or a row refers to one that does not exist */
export async function importRows(run: Run, pages: AsyncIterable<StateRows>, name: string): Promise<void> {
  const [found] = await run(ask(["SELECT id FROM {quota} UNION ALL SELECT id FROM {key} LIMIT 1"]));
  if (found!.length > 0) {
    throw new StoreError(`${name}: the state has keys or quotas already; import into a new one`);
  }
  for await (const { table, rows } of pages) {
    const { columns, bytes } = stateTables[table];
    const stored = (column: string, value: Parameter) =>
      typeof value === "string" && bytes.includes(column) ? Buffer.from(value, "hex") : value;
    const values = rows.map((row) => columns.map((column) => stored(column, row[column] ?? null)));
    await run(ask(insertion(`{${table}} (${columns.join(", ")}) {overriding}`, values)));
  }
  const [keys, secrets] = await run(
    ask<[{ id: string }[], { id: string }[]]>(
      ["SELECT id FROM {key} WHERE quota_id NOT IN (SELECT id FROM {quota}) LIMIT 1"],
      ["SELECT id FROM {secret} WHERE key_id NOT IN (SELECT id FROM {key}) LIMIT 1"],
      ["{numbered}"],
      // Hours up to the last one in the sums are in them.
      [
        `UPDATE {usage_mark} SET rolled =
        coalesce((SELECT max(start) + 3600000 FROM {usage_sum} WHERE span = 3600000), 0)`,
      ],
    ),
  );
  if (keys[0]) throw new StoreError(`key ${keys[0].id} has no quota`);
  if (secrets[0]) throw new StoreError(`secret ${secrets[0].id} has no key`);
}

function toValues(row: Readonly<Record<string, Parameter>>): StateValues {
  const textOf = (value: Parameter) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)]));
}
