/** The state of the service in PostgreSQL 13 or newer. The clock of the database decides: clocks of servers differ. */
import { PostgresDatabase, type PostgresSettings, type Query } from "../../postgres/database.js";
import { translate } from "../../postgres/dialect.js";
import type { Statement, Work } from "../../sql.js";
import { ServiceStore } from "../service-store.js";
import type { ServiceDatabase } from "./database.js";
import { PostgresCharges } from "./postgres-charges.js";
import { tables } from "./tables.js";

/** @throws StoreError when the state cannot be opened */
export async function openPostgresServiceStore(
  url: string,
  { now = Date.now, ...settings }: PostgresSettings & { readonly now?: () => number } = {},
): Promise<ServiceStore> {
  const database = await PostgresDatabase.open(url, settings, translate(tables));
  return new ServiceStore(serviceDatabase(database), now);
}

function serviceDatabase(database: PostgresDatabase): ServiceDatabase {
  const write: ServiceDatabase["write"] = (work) =>
    again(() => database.limited(() => database.transaction((query, begun) => runIn(query, work(), begun))));
  const checkWritable = () =>
    database.transaction(async (query, begun) => {
      await begun;
      await query("UPDATE idv_schema SET version = version");
    });
  return {
    name: database.name,
    isServer: true,
    fastCharges: new PostgresCharges(database),
    get pool() {
      return database.pool;
    },
    async read(work) {
      const running = work();
      let step = running.next();
      while (!step.done) step = running.next(await database.read(...step.value.statements.map(translated)));
      return step.value;
    },
    write,
    writeFast: (work) =>
      again(() =>
        database.transaction(async (query, begun) => {
          query("SELECT set_config('synchronous_commit', 'off', true)");
          return runIn(query, work(), begun);
        }),
      ),
    async tryWrite(work) {
      await write(work).catch(() => {});
    },
    inOne: (use, work) =>
      database.transaction(async (query, begun) => {
        await begun;
        if (use === "read") await query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
        await work((each) => runIn(query, each));
      }),
    examine: checkWritable,
    checkWritable,
    close: () => database.close(),
  };
}

const mostTries = 3;
/** Deadlocks and failed serialisations (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const undone = new Set(["40P01", "40001"]);

/** Repeats a transaction that the database has undone because of another one. */
async function again<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      const { code = "" } = ((error as Error).cause ?? {}) as { code?: string };
      if (tries === mostTries || !undone.has(code)) throw error;
    }
  }
}

const translated = ([text, ...parameters]: Statement) => [translate(text), ...parameters] as const;

/** Sends first reads with BEGIN and last writes with COMMIT, to save round trips. Write only after `begun`. */
async function runIn<Result>(query: Query, work: Work<Result>, begun: Promise<unknown> = Promise.resolve()) {
  let step = work.next();
  while (!step.done) {
    const { statements, isAwaited } = step.value;
    if (!statements.every(([text]) => /^(?:SELECT|\{clock\})/.test(text))) await begun;
    const sent = statements.map((statement) => query(...translated(statement)));
    if (!isAwaited) {
      step = work.next([]);
      continue;
    }
    const rows = await Promise.all(sent);
    await begun;
    step = work.next(rows);
  }
  return step.value;
}
