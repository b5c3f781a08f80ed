/** PostgreSQL for the state of the service: connections with verified TLS, and statements that are sent together. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import pg from "pg";
import { StoreError } from "../errors.js";
import { hashOf } from "../service/secrets.js";
import { schemaVersion } from "../sql.js";

const tablesLock = 0x69647673;
const reserved = 2;
const connectionMilliseconds = 5000;
const refusedMilliseconds = 10_000;
const closeMilliseconds = 1000;

export interface PostgresSettings {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** 8 by default. Two of them, if there are more, are left to look-ups and probes. */
  readonly connections?: number;
  readonly creates?: boolean;
  /** Longest wait for the answer to a statement; 30,000 by default. */
  readonly statementMilliseconds?: number;
}

export interface PoolState {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

export type Query = (text: string, ...values: readonly unknown[]) => Promise<unknown[]>;

export class PostgresDatabase {
  readonly name: string;
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.PoolClient>();
  readonly #most: number;
  readonly #limit: ReturnType<typeof pLimit>;
  /** A pooler may run transactions on other connections, where prepared statements have been made by others. */
  #hasNamedStatements = true;

  /** A `url` without a host takes the PG* variables. @throws StoreError also when the URL asks for weak TLS */
  static async open(url: string, settings: PostgresSettings, tables: string): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(url, settings);
    try {
      database.#hasNamedStatements = await database.runsItself("SELECT pg_backend_pid() AS pid");
      await database.#prepare(tables, settings.creates ?? true);
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  private constructor(url: string, { env = {}, connections = 8, statementMilliseconds = 30_000 }: PostgresSettings) {
    const { connectionString, name } = connectionOf(url, env);
    this.name = name;
    this.#most = connections;
    this.#limit = pLimit(connections > reserved ? connections - reserved : connections);
    this.#pool = new pg.Pool({
      connectionString,
      max: connections,
      connectionTimeoutMillis: Math.min(connectionMilliseconds, statementMilliseconds),
      query_timeout: statementMilliseconds,
      keepAlive: true,
      application_name: "idv",
      pipeline: true,
      types: { getTypeParser },
    } as pg.PoolConfig);
    // The running statement fails with the same error and reports it.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      client.on("error", () => {});
      this.#clients.add(client as pg.PoolClient);
    });
    this.#pool.on("remove", (client) => this.#clients.delete(client as pg.PoolClient));
  }

  get pool(): PoolState {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { open, idle, waiting: waiting + this.#limit.pendingCount };
  }

  async close(): Promise<void> {
    if (this.#pool.ending) return;
    await Promise.race([this.#pool.end(), sleep(closeMilliseconds, undefined, { ref: false })]);
    for (const client of this.#clients) socketOf(client).destroy();
  }

  /** Does work that may wait for a lock, and leaves some connections to look-ups. */
  limited<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#limit(work);
  }

  async #connect(): Promise<pg.PoolClient> {
    const end = performance.now() + connectionMilliseconds;
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if ((error as { code?: string }).code !== tooManyConnections || performance.now() > end) throw error;
        const { options } = this.#pool;
        if (options.max === this.#most) {
          setTimeout(() => {
            options.max = this.#most;
          }, refusedMilliseconds).unref();
        }
        options.max = Math.max(1, this.#pool.totalCount);
        await sleep(20);
      }
    }
  }

  /** Servers that start together wait for each other. */
  async #prepare(tables: string, creates: boolean): Promise<void> {
    const select = "SELECT version FROM idv_schema";
    const found = await this.read([select]).catch((error: StoreError) => {
      if ((error.cause as { code?: string } | undefined)?.code !== unknownTable) throw error;
      return undefined;
    });
    if (found === undefined && !creates) {
      throw new StoreError(`${this.name}: there is no state in this database; idv serve and idv keys create make one`);
    }
    const isMade = (rows: readonly unknown[]) => {
      const [row] = rows as readonly { version: number }[];
      if (row === undefined || row.version === schemaVersion) return row !== undefined;
      throw new StoreError(
        `${this.name}: the tables were written by another version of idv; use that one, or another database`,
      );
    };
    // Only the server that creates the tables needs CREATE.
    if (found && isMade(found[0]!)) return;
    await this.transaction(async (query, begun) => {
      await Promise.all([query("SELECT pg_advisory_xact_lock($1)", tablesLock), begun]);
      await query("CREATE TABLE IF NOT EXISTS idv_schema (version integer NOT NULL)");
      if (isMade(await query(select))) return;
      for (const statement of tables.split(";")) await query(statement);
      await query("INSERT INTO idv_schema VALUES ($1)", schemaVersion);
    });
  }

  async read(...statements: readonly (readonly [string, ...unknown[]])[]): Promise<readonly unknown[][]> {
    return this.#onConnection(async (client) => {
      const results = statements.map(([text, ...values]) => client.query(this.#queryOf(text, values)));
      try {
        return (await Promise.all(results)).map(({ rows }) => rows as unknown[]);
      } finally {
        await Promise.allSettled(results);
      }
    });
  }

  /** `statement` returns its `pid`. If that differs, a pooler may run the next statement on another connection. */
  async runsItself(statement: string): Promise<boolean> {
    return this.#onConnection(async (client) => {
      try {
        const { rows } = await client.query<{ pid: number }>(statement);
        return rows[0]?.pid === (client as unknown as { processID: number }).processID;
      } catch (error) {
        if (error instanceof pg.DatabaseError && error.code === forbidden) return false;
        throw error;
      }
    });
  }

  /** `work` must wait for `begun` before it writes: a write after a failed BEGIN would be committed by itself. */
  async transaction<Result>(work: (query: Query, begun: Promise<unknown>) => Promise<Result>): Promise<Result> {
    return this.#onConnection(async (client) => {
      const sent: Promise<unknown>[] = [];
      const query: Query = (text, ...values) => {
        const result = client.query(this.#queryOf(text, values)).then(({ rows }) => rows as unknown[]);
        // Another statement may fail first.
        result.catch(() => {});
        sent.push(result);
        return result;
      };
      try {
        const begun = query("BEGIN");
        const result = await work(query, begun);
        const committed = client.query("COMMIT");
        committed.catch(() => {});
        await Promise.all(sent);
        // A failed transaction answers COMMIT with ROLLBACK.
        const { command } = await committed;
        if (command !== "COMMIT") throw new Error("the transaction was rolled back");
        return result;
      } catch (error) {
        // A connection that has failed is closed, which ends its transaction.
        if (!isConnectionFault(error)) await client.query("ROLLBACK").catch(() => {});
        throw error;
      } finally {
        await Promise.allSettled(sent);
      }
    });
  }

  #queryOf(text: string, values: readonly unknown[]): pg.QueryConfig {
    if (values.length === 0 && !text.startsWith("SELECT")) return { text };
    return { text, values: [...values], ...(this.#hasNamedStatements && { name: nameOf(text) }) };
  }

  async #onConnection<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    let client: pg.PoolClient | undefined;
    try {
      client = await this.#connect();
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client?.release(isConnectionFault(error));
      if (!isGeneral(error)) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      const isRefused = code === "ECONNREFUSED";
      if (isRefused)
        throw new StoreError(`${this.name}: cannot connect to the database: connection refused; check that it runs`, {
          cause: error,
        });
      const text = message === "" ? (code ?? "no connection") : message;
      throw new StoreError(`${this.name}: the database cannot be used: ${text}`, { cause: error });
    }
  }
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `idv_${Buffer.from(hashOf(text)).toString("hex", 0, 12)}`;
    names.set(text, name);
  }
  return name;
}

const socketOf = (client: pg.PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

const unknownTable = "42P01";
const forbidden = "42501";
const tooManyConnections = "53300";
/** SQLSTATE of a prepared statement whose tables have changed: it would fail from now on. */
const changedTables = "0A000";

const isConnectionFault = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === changedTables ||
  (isGeneral(error) && !(error instanceof pg.DatabaseError));

const isGeneral = (error: unknown): boolean =>
  /^(?:error|AggregateError)$/i.test((error as Error | undefined)?.name ?? "");

/** OID of 64-bit integers, parsed as numbers: units and milliseconds stay below 2^53. */
const bigint = 20;

function getTypeParser(oid: number, format?: "text" | "binary") {
  // biome-ignore lint/suspicious/noExplicitAny: the parsers of the library are typed by their numbers.
  return oid === bigint ? Number : (pg.types.getTypeParser as any)(oid, format);
}

/** Other machines need TLS with a verified certificate, unless the URL has `sslmode=disable`. @throws StoreError */
function connectionOf(url: string, env: Readonly<Record<string, string | undefined>>) {
  if (!URL.canParse(url)) throw new StoreError("the URL of the database is not one such as postgres://host/name");
  const parsed = new URL(url);
  // The library prefers `?host=` to the host.
  const host = decodeURIComponent(parsed.searchParams.get("host") ?? parsed.hostname) || env["PGHOST"] || "";
  const name = `postgres://${host}${parsed.pathname}`;
  const isLocal = host === "" || host.startsWith("/") || /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host);
  const mode = parsed.searchParams.get("sslmode") ?? env["PGSSLMODE"] ?? (isLocal ? "disable" : "verify-full");
  if (mode !== "disable" && mode !== "verify-full") {
    throw new StoreError(`${name}: sslmode=${mode} does not check the server; use verify-full, or disable`);
  }
  parsed.searchParams.set("sslmode", mode);
  return { connectionString: parsed.href, name };
}
