/**
 * Cache of one bulk run, under digests keyed with one secret. Must not store items. A row of `batch` has a whole batch:
 * one row an item takes 46 GB of writes for 5 million items. A row of `unfinished` is a batch without an answer, which
 * the next run resends unchanged, so that the service knows its Idempotency-Key. A row of `claim` keeps other runs off
 * its items.
 */
import { hash } from "node:crypto";
import type { ProcessState } from "../lease.js";
import type { Database } from "../sqlite/database.js";
import { Digests, digestBytes, type ItemHash } from "./digests.js";

export const entryBytes = digestBytes + 1;

/** Time in milliseconds for which a service probably remembers an Idempotency-Key. */
export const unfinishedMilliseconds = 86_400_000;
/** Milliseconds by which the clock of the run that wrote an entry may have been ahead. */
const clockTolerance = 86_400_000;
/** Limit in milliseconds. A claim with a later end is void: the clock of its run was ahead. */
const longestClaim = 86_400_000;
/** Least age at which runs delete verdicts: 30 days, the default age up to which runs use them. */
const leastAge = 2_592_000_000;
const deletedWithNew = 2;
const deletedByLoad = 8;
const batchesAtATime = 16;

type OnEntry = (item: ItemHash, status: string) => void;

/** Whose claims these are, and what became of the owners of others. */
export interface ClaimOwner {
  readonly owner: string;
  readonly stateOf: (owner: string) => ProcessState;
}

export interface ScopeFile {
  readonly database: Database;
  readonly now: () => number;
  readonly claims: ClaimOwner;
  read<Result>(work: () => Result): Promise<Result>;
  write<Result>(work: () => Result): Promise<Result>;
  /** Survives a crash of the process, though perhaps not a power failure. */
  fastWrite<Result>(work: () => Result): Promise<Result>;
  damaged(): Error;
}

type BatchRow = { readonly id: number; readonly statuses: string; readonly entries: Uint8Array };
type ClaimRow = { readonly id: number; readonly owner: string; readonly until: number };
type OwnClaim = { readonly id: number; isSubmitted: boolean };

/** All methods throw StoreError when the file cannot be used. */
export class CacheScope {
  readonly secret: Uint8Array;
  readonly #file: ScopeFile;
  readonly #id: number;
  readonly #digests: Digests;
  readonly #maximumAge: number;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #claims = new Map<string, OwnClaim>();
  #lastBatch = 0;
  /** Ages are counted from the newest batch before this run: the clock of this run may be ahead. */
  #newest: number | undefined;

  constructor(file: ScopeFile, id: number, secret: string, maximumAge: number) {
    this.#file = file;
    this.#id = id;
    this.secret = hash("sha256", `items\n${secret}`, "buffer");
    this.#digests = new Digests(secret);
    this.#maximumAge = maximumAge;
    this.#statements = prepareStatements(file.database);
  }

  /** Passes verdicts added since the last call, of each item the newest last. Skips those dated far in the future. */
  async load(onEntry: OnEntry): Promise<void> {
    while (await this.#file.read(() => this.#loadPage(onEntry))) {
      // One page per turn, so that other work can run in between.
    }
    const { oldBatch, deleteOldBatches } = this.#statements;
    const isAnyOld = await this.#file.read(() => oldBatch.all(this.#id, this.#oldest()).length > 0);
    if (isAnyOld) await this.#file.fastWrite(() => deleteOldBatches.run(this.#id, this.#oldest(), deletedByLoad));
  }

  #oldest(): number {
    this.#newest ??= (this.#statements.newestBatch.all(this.#id) as { created: number | null }[])[0]!.created ?? 0;
    return Math.min(this.#file.now(), this.#newest) - Math.max(this.#maximumAge, leastAge);
  }

  async claim(items: readonly ItemHash[], milliseconds: number, onEntry: OnEntry) {
    const file = this.#file;
    const all = this.#digests.of(items);
    const { isElsewhere, batch, claimId, isNew } = await file.fastWrite(() => {
      while (this.#loadPage(onEntry)) {
        // Few pages: only the batches added since the last call.
      }
      const inFlight = this.#digestsElsewhere();
      const isElsewhere = items.map((_, i) => inFlight.size > 0 && inFlight.has(digestAt(all, i)));
      const batch = batchOf(inFlight.size === 0 ? all : this.#digests.of(items.filter((_, i) => !isElsewhere[i])));
      if (batch.digests.length === 0) return { isElsewhere, batch, claimId: undefined, isNew: false };
      const until = file.now() + Math.min(milliseconds, longestClaim - 1);
      const { insertClaim, insertNewUnfinished } = this.#statements;
      const [row] = insertClaim.all(this.#id, file.claims.owner, until, batch.digests) as { id: number }[];
      const added = insertNewUnfinished.all(this.#id, batch.id, file.now(), batch.digests);
      return { isElsewhere, batch, claimId: row!.id, isNew: added.length > 0 };
    });
    if (claimId === undefined) return { isElsewhere, release: async () => {} };
    const claim: OwnClaim = { id: claimId, isSubmitted: false };
    this.#claims.set(batch.key, claim);
    const release = async () => {
      if (this.#claims.get(batch.key) !== claim) return;
      this.#claims.delete(batch.key);
      await file.fastWrite(() => {
        this.#statements.deleteClaim.run(claimId);
        // A killed run may have submitted the same batch: keep its record until there is an answer.
        if (isNew && !claim.isSubmitted) this.#statements.deleteUnfinished.run(this.#id, batch.id);
      });
    };
    return { isElsewhere, release };
  }

  async begin(items: readonly ItemHash[]): Promise<void> {
    const { digests, id, key } = batchOf(this.#digests.of(items));
    const claim = this.#claims.get(key);
    if (claim) claim.isSubmitted = true;
    else {
      await this.#file.fastWrite(() => this.#statements.insertUnfinished.run(this.#id, id, this.#file.now(), digests));
    }
  }

  /** Durable if there are verdicts. Deletes a few old ones, so that the cache stays bounded. @throws RangeError */
  async finish(begun: readonly ItemHash[], items: readonly ItemHash[], statuses: readonly string[]): Promise<void> {
    const { insertBatch, deleteOldBatches, deleteUnfinished, deleteClaim } = this.#statements;
    const { id, key } = batchOf(this.#digests.of(begun));
    const claim = this.#claims.get(key);
    const { names, indices } = indexed(statuses);
    const entries = Buffer.concat([this.#digests.of(items), indices]);
    const work = () => {
      deleteUnfinished.run(this.#id, id);
      if (claim) deleteClaim.run(claim.id);
      if (items.length === 0) return;
      const values = [this.#id, this.#file.now(), JSON.stringify(names), entries] as const;
      const oldest = this.#oldest();
      const [row] = insertBatch.all(...values) as { id: number }[];
      deleteOldBatches.run(this.#id, oldest, deletedWithNew);
      if (row!.id === this.#lastBatch + 1) this.#lastBatch++;
    };
    // Only verdicts are worth waiting for the disk: they were paid for.
    await (items.length > 0 ? this.#file.write(work) : this.#file.fastWrite(work));
    if (claim) this.#claims.delete(key);
  }

  async unfinished(): Promise<readonly (readonly ItemHash[])[]> {
    const now = this.#file.now();
    const find = () => this.#statements.unfinished.all(this.#id, now - unfinishedMilliseconds, now + clockTolerance);
    const rows = (await this.#file.read(find)) as { digests: Uint8Array }[];
    return rows.map(({ digests }) => this.#itemsOf(digests));
  }

  #itemsOf(digests: Uint8Array): ItemHash[] {
    const items = this.#digests.itemsOf(digests);
    if (items === undefined) throw this.#file.damaged();
    return items;
  }

  #loadPage(onEntry: OnEntry): boolean {
    const now = this.#file.now();
    const values = [this.#id, now - this.#maximumAge, now + clockTolerance, this.#lastBatch] as const;
    const batches = this.#statements.page.all(...values) as BatchRow[];
    for (const batch of batches) {
      this.#unpack(batch, onEntry);
      this.#lastBatch = batch.id;
    }
    return batches.length === batchesAtATime;
  }

  #digestsElsewhere(): ReadonlySet<string> {
    const { claims, claimDigests, deleteClaim } = this.#statements;
    const now = this.#file.now();
    const own = new Set([...this.#claims.values()].map(({ id }) => id));
    const found = new Set<string>();
    for (const { id, owner, until } of claims.all(this.#id) as ClaimRow[]) {
      if (own.has(id)) continue;
      const isInTime = until > now && until < now + longestClaim;
      if (!isInTime || this.#file.claims.stateOf(owner) === "ended") {
        deleteClaim.run(id);
        continue;
      }
      const [row] = claimDigests.all(id) as { digests: Uint8Array }[];
      const digests = Buffer.from(row!.digests);
      for (let i = 0; i < digests.length / digestBytes; i++) found.add(digestAt(digests, i));
    }
    return found;
  }

  #unpack({ statuses, entries }: BatchRow, onEntry: OnEntry): void {
    const names = statusesIn(statuses);
    const isWhole = entries instanceof Uint8Array && entries.length % entryBytes === 0;
    if (names === undefined || !isWhole) throw this.#file.damaged();
    const items = this.#itemsOf(entries.subarray(0, digestBytes * (entries.length / entryBytes)));
    for (const [i, item] of items.entries()) {
      const status = names[entries[digestBytes * items.length + i]!];
      if (status === undefined) throw this.#file.damaged();
      onEntry(item, status);
    }
  }
}

function prepareStatements(database: Database) {
  const prepare = (sql: string) => database.prepare(sql);
  return {
    // Unary "+" keeps SQLite from using the index on `created`: rows after an id are already in order.
    page: prepare(`SELECT id, statuses, entries FROM batch
      WHERE scope_id = ? AND +created >= ? AND +created <= ? AND id > ? ORDER BY id LIMIT ${batchesAtATime}`),
    insertBatch: prepare("INSERT INTO batch (scope_id, created, statuses, entries) VALUES (?, ?, ?, ?) RETURNING id"),
    newestBatch: prepare("SELECT max(created) AS created FROM batch WHERE scope_id = ?"),
    oldBatch: prepare("SELECT 1 FROM batch WHERE scope_id = ? AND created < ? LIMIT 1"),
    deleteOldBatches: prepare(`DELETE FROM batch WHERE id IN
      (SELECT id FROM batch WHERE scope_id = ? AND created < ? ORDER BY created LIMIT ?)`),
    unfinished: prepare(`SELECT digests FROM unfinished
      WHERE scope_id = ? AND created >= ? AND created <= ? ORDER BY created`),
    insertUnfinished: prepare("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?)"),
    insertNewUnfinished: prepare("INSERT OR IGNORE INTO unfinished VALUES (?, ?, ?, ?) RETURNING 1"),
    deleteUnfinished: prepare("DELETE FROM unfinished WHERE scope_id = ? AND digests_hash = ?"),
    claims: prepare("SELECT id, owner, until FROM claim WHERE scope_id = ?"),
    claimDigests: prepare("SELECT digests FROM claim WHERE id = ?"),
    insertClaim: prepare("INSERT INTO claim (scope_id, owner, until, digests) VALUES (?, ?, ?, ?) RETURNING id"),
    deleteClaim: prepare("DELETE FROM claim WHERE id = ?"),
  };
}

function batchOf(digests: Buffer) {
  const id = hash("sha256", digests, "buffer").subarray(0, digestBytes);
  return { digests, id, key: id.toString("hex") };
}

const digestAt = (digests: Buffer, index: number): string =>
  digests.toString("latin1", digestBytes * index, digestBytes * (index + 1));

function statusesIn(text: string): readonly string[] | undefined {
  try {
    const names = JSON.parse(text) as unknown;
    return Array.isArray(names) && names.every((name) => typeof name === "string") ? names : undefined;
  } catch {
    return undefined;
  }
}

function indexed(statuses: readonly string[]) {
  const indexOf = new Map([...new Set(statuses)].map((status, index) => [status, index]));
  if (indexOf.size > 256) throw new RangeError("a batch has more than 256 different statuses");
  return { names: [...indexOf.keys()], indices: Uint8Array.from(statuses, (status) => indexOf.get(status)!) };
}
