import { hash } from "node:crypto";
import { damaged, type LockWait, type Schema } from "./sqlite.js";
import { type OpenFile, openFile, StateFile } from "./state-file.js";

/** What the verdicts of a scope are on, who gave them, and how many there are. */
export interface CacheStatistics {
  readonly kind: string;
  readonly baseUrl: string;
  readonly items: number;
  /** When the oldest and the newest were given, in milliseconds since the epoch. */
  readonly oldest: number;
  readonly newest: number;
}

/** Called with the first two 32-bit words of an item's digest, little-endian, and its status. */
type OnEntry = (low: number, high: number, status: string) => void;

/** Some items that this run alone may submit until it releases them. */
interface Claim {
  /** For each digest, whether another run has it in flight: its verdict should be waited for. */
  readonly isElsewhere: readonly boolean[];
  release(): Promise<void>;
}

/** What tells the claims of runs that have ended: process numbers of this machine. */
export interface Processes {
  readonly ownPid: number;
  isAlive(pid: number): boolean;
}

/** The verdicts of one kind that one service gave, under the hashes of one secret. */
export interface CacheScope {
  /** What an item is known by here, 16 bytes as characters below 256: nobody can tell the item without the secret. */
  digest(key: string): string;
  /**
   * Gives the verdicts that are not too old, the newest of an item last. Those from the future are not given: they were
   * written under a clock that was ahead, and would stay fresh for as long as it was wrong.
   * Called again, it gives those that were added since.
   */
  load(onEntry: OnEntry): Promise<void>;
  /**
   * Claims items before they are submitted, so that runs side by side pay once, and loads what other runs have added. A
   * claim ends with its process, or after a while.
   *
   * @param milliseconds after which others may submit the items, whatever this run does
   */
  claim(digests: readonly string[], milliseconds: number, onEntry: OnEntry): Promise<Claim>;
  /** Records what is about to be submitted together, in this order. It outlives the process. */
  begin(digests: readonly string[]): Promise<void>;
  /** Keeps the verdicts on some of what was begun, and forgets that it was begun. Durable when it resolves. */
  finish(begun: readonly string[], digests: readonly string[], statuses: readonly string[]): Promise<void>;
  /** What was begun within a day and not finished. */
  unfinished(): Promise<readonly (readonly string[])[]>;
}

const digestBytes = 16;
/** A digest, and the index of the status among those of the batch. */
const entryBytes = digestBytes + 1;

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
  ],
};

/** After this long a service may have forgotten an Idempotency-Key. */
const unfinishedMilliseconds = 86_400_000;
/** How far the clock that wrote an entry may have been ahead of ours. */
const clockTolerance = 86_400_000;
/** No claim is held for longer, whatever it says: its clock may have been ahead. */
const longestClaim = 86_400_000;

/** Batches that are read in one statement. */
const batchesAtATime = 16;

/**
 * The verdicts that a service was paid for, in a file that any number of processes may share: a row a batch, with a
 * keyed hash of each item and its status. No item is stored. All methods throw StoreError when the file cannot be used.
 */
export class VerdictCache extends StateFile {
  /**
   * Opens the file, or makes it where it is absent.
   *
   * @param now the clock, in milliseconds since the epoch
   * @param processes without it, claims last until their time is over
   * @throws StoreError
   */
  static async open(
    path: string,
    now: () => number,
    wait: LockWait = {},
    processes: Processes = { ownPid: 0, isAlive: () => true },
  ): Promise<VerdictCache> {
    return new VerdictCache(await openFile(path, schema, now, wait), processes);
  }

  readonly #processes: Processes;

  private constructor(file: OpenFile, processes: Processes) {
    super(file);
    this.#processes = processes;
  }

  /**
   * @param secret what the hashes are keyed with; under another one nothing is found again
   * @param maximumAge that of the verdicts that are loaded, in milliseconds
   */
  async scope(kind: string, baseUrl: string, secret: string, maximumAge: number): Promise<CacheScope> {
    const id = await this.#scopeId(
      kind,
      baseUrl,
      hash("sha256", `scope\n${secret}`, "buffer").subarray(0, digestBytes),
    );
    const { database, now } = this.file;
    // With "+", the few rows after `id` are read in its order, rather than all by the index of `created`.
    const page = database.prepare(
      `SELECT id, statuses, entries FROM batch
      WHERE scope_id = ? AND +created >= ? AND +created <= ? AND id > ? ORDER BY id LIMIT ${batchesAtATime}`,
    );
    const insert = database.prepare(
      "INSERT INTO batch (scope_id, created, statuses, entries) VALUES (?, ?, ?, ?) RETURNING id",
    );
    const begin = database.prepare("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?)");
    const finish = database.prepare("DELETE FROM unfinished WHERE scope_id = ? AND digests_hash = ?");
    const unfinished = database.prepare(
      "SELECT digests FROM unfinished WHERE scope_id = ? AND created >= ? AND created <= ? ORDER BY created",
    );
    const claims = database.prepare("SELECT id, pid, until FROM claim WHERE scope_id = ?");
    const claimDigests = database.prepare("SELECT digests FROM claim WHERE id = ?");
    const insertClaim = database.prepare(
      "INSERT INTO claim (scope_id, pid, until, digests) VALUES (?, ?, ?, ?) RETURNING id",
    );
    const deleteClaim = database.prepare("DELETE FROM claim WHERE id = ?");
    const ownClaims = new Set<number>();
    /** Claims of whole batches, by their digests: recorded as submitted in the same transaction, which saves one. */
    const claimed = new Map<string, { readonly claimId: number; isSubmitted: boolean }>();
    /** The last batch that was loaded. */
    let last = 0;
    const loadPage = (onEntry: OnEntry): boolean => {
      const since = now() - maximumAge;
      const batches = page.all(id, since, now() + clockTolerance, last) as Batch[];
      for (const batch of batches) this.#unpack(batch, onEntry);
      last = batches.at(-1)?.id ?? last;
      return batches.length === batchesAtATime;
    };
    /** Digests that other runs have in flight. Claims of processes that ended are deleted. */
    const elsewhere = () => {
      const found = new Set<string>();
      for (const claim of claims.all(id) as ClaimRow[]) {
        if (ownClaims.has(claim.id)) continue;
        const isHeld =
          claim.until > now() && claim.until < now() + longestClaim && this.#processes.isAlive(claim.pid);
        if (!isHeld) {
          deleteClaim.run(claim.id);
          continue;
        }
        const [row] = claimDigests.all(claim.id) as { digests: Uint8Array }[];
        for (const digest of split(Buffer.from(row!.digests).toString("latin1"))) found.add(digest);
      }
      return found;
    };
    return {
      // A prefix is key enough: the digest is cut, so that nothing can be put behind the item.
      digest: (key) => hash("sha256", `${secret}\n${key}`, "binary").slice(0, digestBytes),
      load: async (onEntry) => {
        while (await this.inRead(() => loadPage(onEntry))) {
          // Page after page, so that other work gets its turn.
        }
      },
      claim: async (digests, milliseconds, onEntry) => {
        const claim = await this.inFastWrite(() => {
          while (loadPage(onEntry)) {
            // Few: what was added since the last call.
          }
          const inFlight = elsewhere();
          const isElsewhere = digests.map((digest) => inFlight.has(digest));
          const own = inFlight.size === 0 ? digests : digests.filter((_, i) => !isElsewhere[i]);
          if (own.length === 0) return { isElsewhere };
          const key = own.join("");
          const bytes = Buffer.from(key, "latin1");
          const until = now() + Math.min(milliseconds, longestClaim - 1);
          const [row] = insertClaim.all(id, this.#processes.ownPid, until, bytes) as { id: number }[];
          begin.run(id, hashOf(bytes), now(), bytes);
          return { isElsewhere, key, claimId: row!.id };
        });
        if (claim.claimId === undefined) return { isElsewhere: claim.isElsewhere, release: async () => {} };
        const { isElsewhere, key, claimId } = claim;
        const batch = { claimId, isSubmitted: false };
        ownClaims.add(claimId);
        claimed.set(key, batch);
        const release = async () => {
          if (!ownClaims.delete(claimId)) return;
          claimed.delete(key);
          await this.inFastWrite(() => {
            deleteClaim.run(claimId);
            if (!batch.isSubmitted) finish.run(id, hashOf(Buffer.from(key, "latin1")));
          });
        };
        return { isElsewhere, release };
      },
      begin: async (digests) => {
        const key = digests.join("");
        const batch = claimed.get(key);
        if (batch) {
          batch.isSubmitted = true;
          return;
        }
        const bytes = Buffer.from(key, "latin1");
        await this.inFastWrite(() => begin.run(id, hashOf(bytes), now(), bytes));
      },
      finish: async (begun, digests, statuses) => {
        const key = begun.join("");
        const begunHash = hashOf(Buffer.from(key, "latin1"));
        const batch = claimed.get(key);
        const { names, entries } = pack(digests, statuses);
        const work = () => {
          finish.run(id, begunHash);
          if (batch) deleteClaim.run(batch.claimId);
          if (digests.length === 0) return;
          const [row] = insert.all(id, now(), JSON.stringify(names), entries) as { id: number }[];
          // What this run adds itself need not be loaded, unless another run has added something before.
          if (row!.id === last + 1) last++;
        };
        // Only what is paid for is worth the wait for the disk.
        await (digests.length > 0 ? this.inWrite(work) : this.inFastWrite(work));
        if (batch) {
          claimed.delete(key);
          ownClaims.delete(batch.claimId);
        }
      },
      unfinished: async () => {
        const rows = (await this.inRead(() =>
          unfinished.all(id, now() - unfinishedMilliseconds, now() + clockTolerance),
        )) as { digests: Uint8Array }[];
        return rows.map(({ digests }) => split(Buffer.from(digests).toString("latin1")));
      },
    };
  }

  /** What is in it, by kind and service. */
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
   * Removes what is older than `age` milliseconds.
   *
   * @returns how many verdicts that were
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
      this.file.database
        .prepare("DELETE FROM unfinished WHERE created < ?")
        .run(this.file.now() - Math.min(age, unfinishedMilliseconds));
      return counted;
    })) as { items: number }[];
    return count!.items;
  }

  /** Gives the room of what was removed back to the file system. */
  async compact(): Promise<void> {
    await this.inRead(() => this.file.database.exec("VACUUM"));
  }

  /** @throws StoreError when it is not what was packed */
  #unpack({ statuses, entries }: Batch, onEntry: (low: number, high: number, status: string) => void): void {
    const names = statusesIn(statuses);
    const isWhole = entries instanceof Uint8Array && entries.length % entryBytes === 0;
    if (names === undefined || !isWhole) throw damaged(this.file.path, schema);
    const bytes = Buffer.from(entries.buffer, entries.byteOffset, entries.length);
    for (let at = 0; at < bytes.length; at += entryBytes) {
      const status = names[bytes[at + digestBytes]!];
      if (status === undefined) throw damaged(this.file.path, schema);
      onEntry(bytes.readInt32LE(at), bytes.readInt32LE(at + 4), status);
    }
  }

  async #scopeId(kind: string, baseUrl: string, secretHash: Uint8Array): Promise<number> {
    const { database } = this.file;
    const [scope] = (await this.inWrite(() => {
      database
        .prepare("INSERT OR IGNORE INTO scope (kind, base_url, secret_hash) VALUES (?, ?, ?)")
        .run(kind, baseUrl, secretHash);
      return database
        .prepare("SELECT id FROM scope WHERE kind = ? AND base_url = ? AND secret_hash = ?")
        .all(kind, baseUrl, secretHash);
    })) as { id: number }[];
    return scope!.id;
  }
}

const hashOf = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer").subarray(0, digestBytes);

const split = (digests: string): string[] =>
  Array.from({ length: Math.floor(digests.length / digestBytes) }, (_, i) =>
    digests.slice(digestBytes * i, digestBytes * (i + 1)),
  );

interface ClaimRow {
  readonly id: number;
  readonly pid: number;
  readonly until: number;
}

interface Batch {
  readonly id: number;
  readonly statuses: string;
  readonly entries: Uint8Array;
}

/** The list of a batch's statuses; undefined when it is none. */
function statusesIn(text: string): readonly string[] | undefined {
  try {
    const names = JSON.parse(text) as unknown;
    return Array.isArray(names) && names.every((name) => typeof name === "string") ? names : undefined;
  } catch {
    return undefined;
  }
}

/** @throws RangeError when there are more than 256 different statuses */
function pack(digests: readonly string[], statuses: readonly string[]) {
  const names = [...new Set(statuses)];
  if (names.length > 256) throw new RangeError("a batch has more than 256 different statuses");
  const entries = Buffer.allocUnsafe(entryBytes * digests.length);
  digests.forEach((digest, i) => {
    entries.write(digest, entryBytes * i, digestBytes, "latin1");
    entries[entryBytes * i + digestBytes] = names.indexOf(statuses[i]!);
  });
  return { names, entries };
}
