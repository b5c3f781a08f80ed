/** The state of the service in PostgreSQL 13 or newer. The clock of the database decides: clocks of servers differ. */
import { type PoolState, PostgresDatabase, type PostgresSettings, type Query } from "../../postgres/database.js";
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
  return new ServiceStore(new PostgresServiceDatabase(database), now);
}

class PostgresServiceDatabase implements ServiceDatabase {
  readonly isServer = true;
  readonly fastCharges: PostgresCharges;
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.fastCharges = new PostgresCharges(database);
  }

  get name(): string {
    return this.#database.name;
  }

  get pool(): PoolState {
    return this.#database.pool;
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async read<Result>(work: () => Work<Result>): Promise<Result> {
    const running = work();
    let step = running.next();
    while (!step.done) {
      step = running.next(await this.#database.read(...step.value.statements.map(translated)));
    }
    return step.value;
  }

  write<Result>(work: () => Work<Result>): Promise<Result> {
    return again(() =>
      this.#database.limited(() => this.#database.transaction((query, begun) => runIn(query, work(), begun))),
    );
  }

  writeFast<Result>(work: () => Work<Result>): Promise<Result> {
    return again(() =>
      this.#database.transaction(async (query, begun) => {
        query("SELECT set_config('synchronous_commit', 'off', true)");
        return runIn(query, work(), begun);
      }),
    );
  }

  async tryWrite(work: () => Work<unknown>): Promise<void> {
    await this.write(work).catch(() => {});
  }

  async inOne(
    use: "read" | "write",
    work: (run: <Result>(work: Work<Result>) => Promise<Result>) => Promise<void>,
  ): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      if (use === "read") await query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      await work((each) => runIn(query, each));
    });
  }

  examine(): Promise<void> {
    return this.checkWritable();
  }

  async checkWritable(): Promise<void> {
    await this.#database.transaction(async (query, begun) => {
      await begun;
      await query("UPDATE idv_schema SET version = version");
    });
  }
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
async function runIn<Result>(
  query: Query,
  work: Work<Result>,
  begun: Promise<unknown> = Promise.resolve(),
): Promise<Result> {
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
