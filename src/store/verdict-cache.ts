import { hash } from "node:crypto";
import { damaged, type Schema } from "./sqlite.js";
import { openFile, StateFile } from "./state-file.js";

/** What the verdicts of a scope are on, who gave them, and how many there are. */
export interface CacheStatistics {
  readonly kind: string;
  readonly baseUrl: string;
  readonly items: number;
  /** When the oldest and the newest were given, in milliseconds since the epoch. */
  readonly oldest: number;
  readonly newest: number;
}

/** The verdicts of one kind that one service gave, under the hashes of one secret. */
export interface CacheScope {
  /** What an item is known by here, 16 bytes as characters below 256: nobody can tell the item without the secret. */
  digest(key: string): string;
  /**
   * Gives the verdicts that are not too old, the newest of an item last.
   *
   * @param onEntry gets the first two 32-bit words of a digest, little-endian, and the status
   */
  load(onEntry: (low: number, high: number, status: string) => void): void;
  /** Notes what is about to be submitted together, in this order. It outlives the process. */
  begin(digests: readonly string[]): void;
  /** Keeps the verdicts on some of what was begun, which is done with. Durable when it returns. */
  finish(begun: readonly string[], digests: readonly string[], statuses: readonly string[]): void;
  /** What was begun within a day and not finished. */
  unfinished(): readonly (readonly string[])[];
}

const digestBytes = 16;
/** A digest, and the index of the status among those of the batch. */
const entryBytes = digestBytes + 1;

const schema: Schema = {
  name: "cache",
  // "idvc"
  applicationId: 0x69647663,
  create: `
    CREATE TABLE scope (
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
};

/** A service may have forgotten what is older. */
const unfinishedMilliseconds = 86_400_000;

/** So many batches are read at a time. */
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
   * @throws StoreError
   */
  static async open(path: string, now: () => number): Promise<VerdictCache> {
    return new VerdictCache(await openFile(path, schema, now));
  }

  /**
   * @param secret what the hashes are keyed with; under another one nothing is found again
   * @param maximumAge that of the verdicts that are loaded, in milliseconds
   */
  scope(kind: string, baseUrl: string, secret: string, maximumAge: number): CacheScope {
    const id = this.#scopeId(
      kind,
      baseUrl,
      hash("sha256", `scope\n${secret}`, "buffer").subarray(0, digestBytes),
    );
    const { database, now } = this.file;
    const page = database.prepare(
      `SELECT id, statuses, entries FROM batch WHERE scope_id = ? AND created >= ? AND id > ? ORDER BY id LIMIT ${batchesAtATime}`,
    );
    const insert = database.prepare(
      "INSERT INTO batch (scope_id, created, statuses, entries) VALUES (?, ?, ?, ?)",
    );
    const begin = database.prepare("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?)");
    const finish = database.prepare("DELETE FROM unfinished WHERE scope_id = ? AND digests_hash = ?");
    const unfinished = database.prepare(
      "SELECT digests FROM unfinished WHERE scope_id = ? AND created >= ? ORDER BY created",
    );
    return {
      // A prefix is key enough: the digest is cut, so that nothing can be put behind the item.
      digest: (key) => hash("sha256", `${secret}\n${key}`, "binary").slice(0, digestBytes),
      load: (onEntry) => {
        const since = now() - maximumAge;
        for (let last = 0; ; ) {
          const batches = this.inRead(() => page.all(id, since, last)) as Batch[];
          for (const batch of batches) this.#unpack(batch, onEntry);
          if (batches.length < batchesAtATime) return;
          last = batches.at(-1)!.id;
        }
      },
      begin: (digests) => {
        const bytes = Buffer.from(digests.join(""), "latin1");
        this.inFastWrite(() => begin.run(id, hashOf(bytes), now(), bytes));
      },
      finish: (begun, digests, statuses) => {
        const begunHash = hashOf(Buffer.from(begun.join(""), "latin1"));
        const { names, entries } = pack(digests, statuses);
        const work = () => {
          finish.run(id, begunHash);
          if (digests.length > 0) insert.run(id, now(), JSON.stringify(names), entries);
        };
        // Only what is paid for is worth the wait for the disk.
        if (digests.length > 0) this.inWrite(work);
        else this.inFastWrite(work);
      },
      unfinished: () => {
        const rows = this.inRead(() => unfinished.all(id, now() - unfinishedMilliseconds)) as {
          digests: Uint8Array;
        }[];
        return rows.map(({ digests }) => split(Buffer.from(digests).toString("latin1")));
      },
    };
  }

  /** What is in it, by kind and service. */
  statistics(): readonly CacheStatistics[] {
    const rows = this.inRead(() =>
      this.file.database
        .prepare(
          `SELECT kind, base_url, sum(length(entries)) / ${entryBytes} AS items, min(created) AS oldest, max(created) AS newest
          FROM batch JOIN scope ON scope.id = scope_id GROUP BY kind, base_url ORDER BY base_url, kind`,
        )
        .all(),
    ) as { kind: string; base_url: string; items: number; oldest: number; newest: number }[];
    return rows.map(({ base_url: baseUrl, ...rest }) => ({ ...rest, baseUrl }));
  }

  /**
   * Removes what is older than `age` milliseconds.
   *
   * @returns how many verdicts that were
   */
  prune(age: number): number {
    const before = this.file.now() - age;
    const [count] = this.inWrite(() => {
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
    }) as { items: number }[];
    return count!.items;
  }

  /** Gives the room of what was removed back to the file system. */
  compact(): void {
    this.inRead(() => this.file.database.exec("VACUUM"));
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

  #scopeId(kind: string, baseUrl: string, secretHash: Uint8Array): number {
    const { database } = this.file;
    const [scope] = this.inWrite(() => {
      database
        .prepare("INSERT OR IGNORE INTO scope (kind, base_url, secret_hash) VALUES (?, ?, ?)")
        .run(kind, baseUrl, secretHash);
      return database
        .prepare("SELECT id FROM scope WHERE kind = ? AND base_url = ? AND secret_hash = ?")
        .all(kind, baseUrl, secretHash);
    }) as { id: number }[];
    return scope!.id;
  }
}

const hashOf = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer").subarray(0, digestBytes);

const split = (digests: string): string[] =>
  Array.from({ length: Math.floor(digests.length / digestBytes) }, (_, i) =>
    digests.slice(digestBytes * i, digestBytes * (i + 1)),
  );

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
