/**
 * Cache of the verdicts that a service was paid for: a SQLite file that any number of processes may share. It must hold only
 * keyed hashes and statuses, never items. Entries are read and written in cache-scope.ts.
 */
import { hash } from "node:crypto";
import { damaged, type LockWait, type Schema } from "../sqlite/database.js";
import { type OpenFile, openFile, StateFile } from "../sqlite/state-file.js";
import { GroupCommit } from "../state/group-commit.js";
import {
  CacheScope,
  digestBytes,
  entryBytes,
  type Processes,
  type ScopeFile,
  unfinishedMilliseconds,
} from "./cache-scope.js";
import { FindingCache } from "./finding-cache.js";

/** Number and age of the cached verdicts of one kind from one service. */
export interface CacheStatistics {
  readonly kind: string;
  readonly baseUrl: string;
  readonly items: number;
  /** Time of the oldest verdict, in milliseconds since the epoch. */
  readonly oldest: number;
  /** Time of the newest verdict, in milliseconds since the epoch. */
  readonly newest: number;
}

const schema: Schema = {
  name: "cache",
  // "idvc"
  applicationId: 0x69647663,
  steps: [
    `CREATE TABLE scope (
      id INTEGER PRIMARY KEY,
      kind TEXT NOT NULL,
      base_url TEXT NOT NULL,
      secret_hash BLOB NOT NULL,
      UNIQUE (kind, base_url, secret_hash)
    ) STRICT;
    CREATE TABLE batch (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scope (id),
      created INTEGER NOT NULL,
      statuses TEXT NOT NULL,
      entries BLOB NOT NULL
    ) STRICT;
    CREATE INDEX batch_created ON batch (created);
    CREATE TABLE unfinished (
      scope_id INTEGER NOT NULL REFERENCES scope (id),
      digests_hash BLOB NOT NULL,
      created INTEGER NOT NULL,
      digests BLOB NOT NULL,
      PRIMARY KEY (scope_id, digests_hash)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE claim (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scope (id),
      pid INTEGER NOT NULL,
      until INTEGER NOT NULL,
      digests BLOB NOT NULL
    ) STRICT`,
    `CREATE TABLE mail_domain (
      digest BLOB PRIMARY KEY,
      finding TEXT NOT NULL,
      created INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    "ALTER TABLE claim ADD COLUMN machine TEXT NOT NULL DEFAULT ''",
  ],
};

/** An open cache. All methods throw StoreError when the file cannot be used. */
export class VerdictCache extends StateFile {
  /**
   * Opens the file. Creates it if it is absent.
   *
   * @param now clock in milliseconds since the epoch
   * @param processes tells whether the run that made a claim has ended; by default, claims last their whole duration
   * @throws StoreError
   */
  static async open(
    path: string,
    now: () => number,
    wait: LockWait = {},
    processes: Processes = { ownPid: 0, machine: "", isAlive: () => true },
  ): Promise<VerdictCache> {
    return new VerdictCache(await openFile(path, schema, now, wait), processes);
  }

  readonly #processes: Processes;
  /** The changes of batches side by side, which share their transactions. */
  readonly #changes = new GroupCommit((works: readonly (() => unknown)[]) =>
    this.inFastWrite(() => works.map((work) => work())),
  );
  #lastChange: Promise<unknown> = Promise.resolve();

  private constructor(file: OpenFile, processes: Processes) {
    super(file);
    this.#processes = processes;
  }

  /**
   * Opens the part of the cache that holds the verdicts of one kind from one service.
   *
   * @param secret key of the hashes; with another secret, no cached verdict is found
   * @param maximumAge limit on the age of the verdicts that are loaded, in milliseconds
   */
  async scope(kind: string, baseUrl: string, secret: string, maximumAge: number): Promise<CacheScope> {
    const secretHash = hash("sha256", `scope\n${secret}`, "buffer").subarray(0, digestBytes);
    const id = await this.#scopeId(kind, baseUrl, secretHash);
    return new CacheScope(this.#scopeFile(), id, secret, maximumAge);
  }

  /**
   * Opens the part of the cache that holds what DNS said.
   *
   * @param secret key of the hashes
   * @param servers the servers that are asked
   */
  findings(secret: string, servers: readonly string[]): FindingCache {
    return new FindingCache(this.#scopeFile(), secret, servers);
  }

  #scopeFile(): ScopeFile {
    const { path, database, now } = this.file;
    return {
      ...{ database, now, processes: this.#processes },
      read: (work) => this.inRead(work),
      write: async (work) => {
        const isSynced = await this.canSync();
        const result = await (isSynced ? this.#change(work) : this.inWrite(work));
        if (isSynced) await this.sync();
        return result;
      },
      fastWrite: (work) => this.#change(work),
      damaged: () => damaged(path, schema),
    };
  }

  /** Makes a fast change together with others. */
  #change<Result>(work: () => Result): Promise<Result> {
    const change = this.#changes.add(work) as Promise<Result>;
    this.#lastChange = change.catch(() => {});
    return change;
  }

  /** Waits for all changes, then closes the file. */
  override async close(): Promise<void> {
    await this.#lastChange;
    await super.close();
  }

  /** Returns the number and age of the verdicts by kind and service. */
  async statistics(): Promise<readonly CacheStatistics[]> {
    const rows = (await this.inRead(() =>
      this.file.database
        .prepare(
          `SELECT kind, base_url, sum(length(entries)) / ${entryBytes} AS items, min(created) AS oldest, max(created) AS newest
          FROM batch JOIN scope ON scope.id = scope_id GROUP BY kind, base_url ORDER BY base_url, kind`,
        )
        .all(),
    )) as { kind: string; base_url: string; items: number; oldest: number; newest: number }[];
    return rows.map(({ base_url: baseUrl, ...rest }) => ({ ...rest, baseUrl }));
  }

  /**
   * Deletes verdicts older than `age` milliseconds, what DNS said before then, and unfinished batches older than `age` or a day, whichever is
   * shorter. Must run only when a user asks for it: if runs deleted more than a few by themselves, one whose clock is ahead would
   * delete all paid verdicts.
   *
   * @returns the number of verdicts deleted
   */
  async prune(age: number): Promise<number> {
    const before = this.file.now() - age;
    const [count] = (await this.inWrite(() => {
      const counted = this.file.database
        .prepare(
          `SELECT coalesce(sum(length(entries)), 0) / ${entryBytes} AS items FROM batch WHERE created < ?`,
        )
        .all(before);
      this.file.database.prepare("DELETE FROM batch WHERE created < ?").run(before);
      this.file.database.prepare("DELETE FROM mail_domain WHERE created < ?").run(before);
      this.file.database
        .prepare("DELETE FROM unfinished WHERE created < ?")
        .run(this.file.now() - Math.min(age, unfinishedMilliseconds));
      return counted;
    })) as { items: number }[];
    return count!.items;
  }

  /** Returns the space of deleted verdicts to the file system. */
  async compact(): Promise<void> {
    // Not inWrite(): VACUUM cannot run in a transaction.
    await this.inRead(() => this.file.database.exec("VACUUM"));
  }

  /** Returns the row number of a scope. Adds the row if it is absent. */
  async #scopeId(kind: string, baseUrl: string, secretHash: Uint8Array): Promise<number> {
    const values = [kind, baseUrl, secretHash];
    const find = () =>
      this.all("SELECT id FROM scope WHERE kind = ? AND base_url = ? AND secret_hash = ?", ...values) as {
        id: number;
      }[];
    // Nearly always there: a read waits for nobody.
    const [found] = await this.inRead(find);
    if (found) return found.id;
    const [added] = await this.inWrite(() => {
      this.run("INSERT OR IGNORE INTO scope (kind, base_url, secret_hash) VALUES (?, ?, ?)", ...values);
      return find();
    });
    return added!.id;
  }
}
