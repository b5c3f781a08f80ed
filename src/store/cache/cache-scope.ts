/**
 * Cache of one bulk run: verdicts of one kind from one service, under hashes keyed with one secret. Must not store
 * items.
 *
 * A row of `batch` has the verdicts of one batch as packed entries: a digest and the index of a status. A row of
 * `unfinished` is a batch that was submitted but not answered. The next run resends it unchanged, so that the service
 * recognises its Idempotency-Key. A row of `claim` prevents concurrent runs from submitting the same items. All tables
 * are in one file, which {@link VerdictCache} opens.
 */
import { hash } from "node:crypto";
import type { Database } from "../sqlite/database.js";

/** Length of a digest, the keyed hash of an item, in bytes. */
export const digestBytes = 16;
/** Length of a packed entry in bytes: a digest, then one byte with the index of the status in the list of its batch. */
export const entryBytes = digestBytes + 1;

/** Time for which a service probably remembers an Idempotency-Key, in milliseconds. */
export const unfinishedMilliseconds = 86_400_000;
/** Limit on how far in the future an entry may be dated, in milliseconds: the clock of its run may have been ahead. */
const clockTolerance = 86_400_000;
/**
 * Limit on the duration of a claim, in milliseconds. A claim with a later end is void: the clock of its run was ahead.
 */
const longestClaim = 86_400_000;
/** Least age at which runs delete verdicts, in milliseconds: 30 days, the default age up to which runs use them. */
const leastAge = 2_592_000_000;
/**
 * Limit on the old batches deleted with each new one. If a clock stays ahead, a night deletes no more than twice what
 * it adds.
 */
const deletedBatches = 2;
const batchesAtATime = 16;

/** Receives a verdict: the first two 32-bit words of the item's digest, little-endian, and the status. */
type OnEntry = (low: number, high: number, status: string) => void;

export interface Processes {
  readonly ownPid: number;
  /** Identifies the machine or container. Processes of other machines cannot be checked. */
  readonly machine: string;
  isAlive(pid: number): boolean;
}

export interface ScopeFile {
  readonly database: Database;
  readonly now: () => number;
  readonly processes: Processes;
  read<Result>(work: () => Result): Promise<Result>;
  write<Result>(work: () => Result): Promise<Result>;
  /** Runs a change that survives a crash of the process, though perhaps not a power failure. */
  fastWrite<Result>(work: () => Result): Promise<Result>;
  damaged(): Error;
}

interface BatchRow {
  readonly id: number;
  readonly statuses: string;
  readonly entries: Uint8Array;
}

interface ClaimRow {
  readonly id: number;
  readonly pid: number;
  readonly machine: string;
  readonly until: number;
}

interface OwnClaim {
  readonly id: number;
  /** Whether `begin` was called for its batch. If so, releasing the claim does not delete the `unfinished` row. */
  isSubmitted: boolean;
}

/** All methods but `digest` throw StoreError when the file cannot be used. */
export class CacheScope {
  readonly #file: ScopeFile;
  readonly #id: number;
  readonly #secret: string;
  readonly #maximumAge: number;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #claims = new Map<string, OwnClaim>();
  /** Last batch that need not be loaded: it was loaded, or added by this run. */
  #lastBatch = 0;
  /** Time of the newest batch before this run, from which ages are counted: the clock of this run may be ahead. */
  #newest: number | undefined;

  constructor(file: ScopeFile, id: number, secret: string, maximumAge: number) {
    this.#file = file;
    this.#id = id;
    this.#secret = secret;
    this.#maximumAge = maximumAge;
    this.#statements = prepareStatements(file.database);
  }

  /**
   * Returns the digest of an item as 16 characters below U+0100. Without the secret, the item cannot be guessed from
   * it.
   *
   * @param key canonical form of the item
   */
  digest(key: string): string {
    // A secret prefix is as safe as HMAC here: the hash is truncated, which prevents length extension.
    return hash("sha256", `${this.#secret}\n${key}`, "binary").slice(0, digestBytes);
  }

  /**
   * Passes the verdicts within the maximum age to `onEntry`. If an item has several, the newest comes last. Later calls
   * pass only verdicts added since. Skips verdicts dated more than a day in the future: the clock was ahead when they
   * were written, and they would not expire until long after that date.
   */
  async load(onEntry: OnEntry): Promise<void> {
    while (await this.#file.read(() => this.#loadPage(onEntry))) {
      // One page per turn, so that other work can run in between.
    }
  }

  /**
   * Claims the items of a batch before it is submitted, except items that another run has claimed. Passes verdicts
   * added by other runs to `onEntry`. A claim ends when it is released, when its process ends, or after its duration.
   *
   * @param milliseconds duration of the claim; after it, other runs may submit the items
   * @returns `isElsewhere`: for each digest, whether another run has claimed it; `release`, which ends the claim
   */
  async claim(digests: readonly string[], milliseconds: number, onEntry: OnEntry) {
    const file = this.#file;
    const { isElsewhere, key, claimId, isNew } = await file.fastWrite(() => {
      while (this.#loadPage(onEntry)) {
        // Few pages: only the batches added since the last call.
      }
      const inFlight = this.#digestsElsewhere();
      const isElsewhere = digests.map((digest) => inFlight.has(digest));
      const own = inFlight.size === 0 ? digests : digests.filter((_, i) => !isElsewhere[i]);
      const key = own.join("");
      if (own.length === 0) return { isElsewhere, key, claimId: undefined, isNew: false };
      const bytes = Buffer.from(key, "latin1");
      const until = file.now() + Math.min(milliseconds, longestClaim - 1);
      const { insertClaim, insertNewUnfinished } = this.#statements;
      const { ownPid, machine } = file.processes;
      const [row] = insertClaim.all(this.#id, ownPid, machine, until, bytes) as { id: number }[];
      // Do the work of begin() in the same transaction, which saves one.
      const added = insertNewUnfinished.all(this.#id, hashOf(key), file.now(), bytes);
      return { isElsewhere, key, claimId: row!.id, isNew: added.length > 0 };
    });
    if (claimId === undefined) return { isElsewhere, release: async () => {} };
    const claim: OwnClaim = { id: claimId, isSubmitted: false };
    this.#claims.set(key, claim);
    const release = async () => {
      if (this.#claims.get(key) !== claim) return;
      this.#claims.delete(key);
      await file.fastWrite(() => {
        this.#statements.deleteClaim.run(claimId);
        // A killed run may have submitted the same batch: keep its record until there is an answer.
        if (isNew && !claim.isSubmitted) this.#statements.deleteUnfinished.run(this.#id, hashOf(key));
      });
    };
    return { isElsewhere, release };
  }

  /** Records a batch that is about to be submitted, with its items in this order. The record survives a crash. */
  async begin(digests: readonly string[]): Promise<void> {
    const key = digests.join("");
    const claim = this.#claims.get(key);
    if (claim) claim.isSubmitted = true;
    else {
      const bytes = Buffer.from(key, "latin1");
      await this.#file.fastWrite(() =>
        this.#statements.insertUnfinished.run(this.#id, hashOf(key), this.#file.now(), bytes),
      );
    }
  }

  /**
   * Stores the verdicts of a submitted batch and deletes its record and its claim. Durable if there are verdicts.
   * Deletes a few verdicts that are too old for all runs, so that the cache stays bounded.
   *
   * @param begun digests of the whole batch, as passed to `begin`
   * @param digests digests of the items that have verdicts
   * @param statuses statuses of these items, in the same order
   * @throws RangeError when there are more than 256 different statuses
   */
  async finish(
    begun: readonly string[],
    digests: readonly string[],
    statuses: readonly string[],
  ): Promise<void> {
    const { insertBatch, newestBatch, deleteOldBatches, deleteUnfinished, deleteClaim } = this.#statements;
    const key = begun.join("");
    const claim = this.#claims.get(key);
    const { names, entries } = pack(digests, statuses);
    const work = () => {
      deleteUnfinished.run(this.#id, hashOf(key));
      if (claim) deleteClaim.run(claim.id);
      if (digests.length === 0) return;
      const values = [this.#id, this.#file.now(), JSON.stringify(names), entries] as const;
      this.#newest ??= (newestBatch.all(this.#id) as { created: number | null }[])[0]!.created ?? 0;
      const [row] = insertBatch.all(...values) as { id: number }[];
      const now = Math.min(this.#file.now(), this.#newest);
      deleteOldBatches.run(this.#id, now - Math.max(this.#maximumAge, leastAge));
      // Loading can skip the batch that this run has just added, unless other runs have added some before it.
      if (row!.id === this.#lastBatch + 1) this.#lastBatch++;
    };
    // Only verdicts are worth waiting for the disk: they were paid for.
    await (digests.length > 0 ? this.#file.write(work) : this.#file.fastWrite(work));
    if (claim) this.#claims.delete(key);
  }

  /** Returns the digests of each batch recorded within 24 hours and not finished, the oldest batch first. */
  async unfinished(): Promise<readonly (readonly string[])[]> {
    const now = this.#file.now();
    const rows = (await this.#file.read(() =>
      this.#statements.unfinished.all(this.#id, now - unfinishedMilliseconds, now + clockTolerance),
    )) as { digests: Uint8Array }[];
    return rows.map(({ digests }) => split(digests));
  }

  #loadPage(onEntry: OnEntry): boolean {
    const now = this.#file.now();
    const batches = this.#statements.page.all(
      ...[this.#id, now - this.#maximumAge, now + clockTolerance, this.#lastBatch],
    ) as BatchRow[];
    for (const batch of batches) {
      this.#unpack(batch, onEntry);
      this.#lastBatch = batch.id;
    }
    return batches.length === batchesAtATime;
  }

  #digestsElsewhere(): ReadonlySet<string> {
    const { claims, claimDigests, deleteClaim } = this.#statements;
    const { machine: here, isAlive } = this.#file.processes;
    const now = this.#file.now();
    const own = new Set([...this.#claims.values()].map(({ id }) => id));
    const found = new Set<string>();
    for (const { id, pid, machine, until } of claims.all(this.#id) as ClaimRow[]) {
      if (own.has(id)) continue;
      const isHeld = until > now && until < now + longestClaim && (machine !== here || isAlive(pid));
      if (!isHeld) {
        deleteClaim.run(id);
        continue;
      }
      const [row] = claimDigests.all(id) as { digests: Uint8Array }[];
      for (const digest of split(row!.digests)) found.add(digest);
    }
    return found;
  }

  #unpack({ statuses, entries }: BatchRow, onEntry: OnEntry): void {
    const names = statusesIn(statuses);
    const isWhole = entries instanceof Uint8Array && entries.length % entryBytes === 0;
    if (names === undefined || !isWhole) throw this.#file.damaged();
    const bytes = Buffer.from(entries.buffer, entries.byteOffset, entries.length);
    for (let at = 0; at < bytes.length; at += entryBytes) {
      const status = names[bytes[at + digestBytes]!];
      if (status === undefined) throw this.#file.damaged();
      onEntry(bytes.readInt32LE(at), bytes.readInt32LE(at + 4), status);
    }
  }
}

function prepareStatements(database: Database) {
  return {
    // Unary "+" keeps SQLite from using the index on `created`. It then reads only the rows after an id, already in
    // order.
    page: database.prepare(
      `SELECT id, statuses, entries FROM batch
      WHERE scope_id = ? AND +created >= ? AND +created <= ? AND id > ? ORDER BY id LIMIT ${batchesAtATime}`,
    ),
    insertBatch: database.prepare(
      "INSERT INTO batch (scope_id, created, statuses, entries) VALUES (?, ?, ?, ?) RETURNING id",
    ),
    newestBatch: database.prepare("SELECT max(created) AS created FROM batch WHERE scope_id = ?"),
    deleteOldBatches: database.prepare(
      `DELETE FROM batch WHERE id IN
      (SELECT id FROM batch WHERE scope_id = ? AND created < ? ORDER BY created LIMIT ${deletedBatches})`,
    ),
    unfinished: database.prepare(
      "SELECT digests FROM unfinished WHERE scope_id = ? AND created >= ? AND created <= ? ORDER BY created",
    ),
    insertUnfinished: database.prepare("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?)"),
    insertNewUnfinished: database.prepare("INSERT OR IGNORE INTO unfinished VALUES (?, ?, ?, ?) RETURNING 1"),
    deleteUnfinished: database.prepare("DELETE FROM unfinished WHERE scope_id = ? AND digests_hash = ?"),
    claims: database.prepare("SELECT id, pid, machine, until FROM claim WHERE scope_id = ?"),
    claimDigests: database.prepare("SELECT digests FROM claim WHERE id = ?"),
    insertClaim: database.prepare(
      "INSERT INTO claim (scope_id, pid, machine, until, digests) VALUES (?, ?, ?, ?, ?) RETURNING id",
    ),
    deleteClaim: database.prepare("DELETE FROM claim WHERE id = ?"),
  };
}

const hashOf = (digests: string): Uint8Array =>
  hash("sha256", Buffer.from(digests, "latin1"), "buffer").subarray(0, digestBytes);

function split(blob: Uint8Array): string[] {
  const digests = Buffer.from(blob).toString("latin1");
  return Array.from({ length: Math.floor(digests.length / digestBytes) }, (_, i) =>
    digests.slice(digestBytes * i, digestBytes * (i + 1)),
  );
}

function statusesIn(text: string): readonly string[] | undefined {
  try {
    const names = JSON.parse(text) as unknown;
    return Array.isArray(names) && names.every((name) => typeof name === "string") ? names : undefined;
  } catch {
    return undefined;
  }
}

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
