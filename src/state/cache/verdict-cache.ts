/** Cache of the verdicts that a service was paid for. Must store only keyed digests and statuses, never items. */
import { hash } from "node:crypto";
import { GroupCommit } from "../group-commit.js";
import { damaged, type LockWait, type Schema } from "../sqlite/database.js";
import { type OpenFile, openFile, StateFile } from "../sqlite/state-file.js";
import { CacheScope, type ClaimOwner, entryBytes, type ScopeFile, unfinishedMilliseconds } from "./cache-scope.js";
import { digestBytes } from "./digests.js";
import { FindingCache } from "./finding-cache.js";

export interface CacheStatistics {
  readonly kind: string;
  readonly baseUrl: string;
  readonly items: number;
  readonly oldest: number;
  readonly newest: number;
}

const schema: Schema = {
  name: "cache",
  // "idvc"
  applicationId: 0x69647663,
  tables: `CREATE TABLE scope (
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
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE claim (
      id INTEGER PRIMARY KEY,
      scope_id INTEGER NOT NULL REFERENCES scope (id),
      owner TEXT NOT NULL,
      until INTEGER NOT NULL,
      digests BLOB NOT NULL
    ) STRICT;
    CREATE TABLE mail_domain (
      digest BLOB PRIMARY KEY,
      finding TEXT NOT NULL,
      created INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
};

export class VerdictCache extends StateFile {
  /** Without `claims`, claims last their whole duration, even if their run has ended. @throws StoreError */
  static async open(
    path: string,
    now: () => number,
    wait: LockWait = {},
    claims: ClaimOwner = { owner: "", stateOf: () => "running" },
  ): Promise<VerdictCache> {
    return new VerdictCache(await openFile(path, schema, now, wait), claims);
  }

  readonly #claims: ClaimOwner;
  readonly #changes = new GroupCommit((works: readonly (() => unknown)[]) =>
    this.inFastWrite(() => works.map((work) => work())),
  );
  #lastChange: Promise<unknown> = Promise.resolve();

  private constructor(file: OpenFile, claims: ClaimOwner) {
    super(file);
    this.#claims = claims;
  }

  async scope(kind: string, baseUrl: string, secret: string, maximumAge: number): Promise<CacheScope> {
    const secretHash = hash("sha256", `scope\n${secret}`, "buffer").subarray(0, digestBytes);
    const id = await this.#scopeId(kind, baseUrl, secretHash);
    return new CacheScope(this.#scopeFile(), id, secret, maximumAge);
  }

  findings(secret: string, servers: readonly string[]): FindingCache {
    return new FindingCache(this.#scopeFile(), secret, servers);
  }

  #scopeFile(): ScopeFile {
    const { path, database, now } = this.file;
    return {
      database,
      now,
      claims: this.#claims,
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

  #change<Result>(work: () => Result): Promise<Result> {
    const change = this.#changes.add(work) as Promise<Result>;
    this.#lastChange = change.catch(() => {});
    return change;
  }

  override async close(): Promise<void> {
    await this.#lastChange;
    await super.close();
  }

  async statistics(): Promise<readonly CacheStatistics[]> {
    const sql = `SELECT kind, sum(length(entries)) / ${entryBytes} AS items, min(created) AS oldest,
        max(created) AS newest, base_url AS "baseUrl"
      FROM batch JOIN scope ON scope.id = scope_id GROUP BY kind, base_url ORDER BY base_url, kind`;
    return (await this.inRead(() => this.all(sql))) as CacheStatistics[];
  }

  /** Deletes what is older than `age` ms. Must run only on request: a run whose clock is ahead would delete all. */
  async prune(age: number): Promise<number> {
    const before = this.file.now() - age;
    const items = `SELECT coalesce(sum(length(entries)), 0) / ${entryBytes} AS items FROM batch WHERE created < ?`;
    const [count] = (await this.inWrite(() => {
      const counted = this.all(items, before);
      this.run("DELETE FROM batch WHERE created < ?", before);
      this.run("DELETE FROM mail_domain WHERE created < ?", before);
      const unfinishedBefore = this.file.now() - Math.min(age, unfinishedMilliseconds);
      this.run("DELETE FROM unfinished WHERE created < ?", unfinishedBefore);
      return counted;
    })) as { items: number }[];
    return count!.items;
  }

  async compact(): Promise<void> {
    // Not inWrite(): VACUUM cannot run in a transaction.
    await this.inRead(() => this.file.database.exec("VACUUM"));
  }

  async #scopeId(kind: string, baseUrl: string, secretHash: Uint8Array): Promise<number> {
    const values = [kind, baseUrl, secretHash];
    const sql = "SELECT id FROM scope WHERE kind = ? AND base_url = ? AND secret_hash = ?";
    const find = () => this.all(sql, ...values) as { id: number }[];
    // The scope nearly always exists, and a read need not wait for locks.
    const [found] = await this.inRead(find);
    if (found) return found.id;
    const [added] = await this.inWrite(() => {
      this.run("INSERT OR IGNORE INTO scope (kind, base_url, secret_hash) VALUES (?, ?, ?)", ...values);
      return find();
    });
    return added!.id;
  }
}
