/**
 * The charges of the offline engine. Its verdicts are there at once; chunks wait until their new items are charged, many at a time:
 *
 * - While the disk or a database makes a charge, the next chunks wait for the next one: it is the larger, the longer the last
 *   one takes. A crash wastes the units of at most one charge.
 * - Items that the quota does not grant are marked in the ledger as not checked.
 */
import type { ItemHash } from "../../classifier/item-hash.js";
import { type EmbeddedEngine, unitsOf } from "../../validator/validator.js";
import type { ItemLedger } from "../item-ledger.js";
import { notCheckedCode } from "../status-codes.js";
import type { NumberedChunk, Settler } from "./settler.js";

/**
 * Number of new items at which they are charged. A durable charge takes as long as thousands of verdicts, but a crash
 * may waste its units.
 */
const chargedItems = 20_000;
/** Number of chunks and rows at which their items are charged, whatever their number. */
const chargedChunks = 8;
const chargedRows = 65_536;
/** Most chunks of a charge: more wait under way, as with a database far away, until that is made. They limit memory. */
const mostChunks = 64;

/** The chunks of one charge. */
interface Group {
  readonly chunks: NumberedChunk[];
  units: number;
  rows: number;
  /** Whether the input pauses after it. */
  isBeforePause: boolean;
  readonly settled: Promise<void>;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

export class Charges implements Settler {
  readonly #ledger: ItemLedger;
  readonly #engine: EmbeddedEngine;
  #group = newGroup();
  /** Settled when the chunk added last is. */
  #settled: Promise<void> = Promise.resolve();
  /** The charge under way. It never rejects. */
  #charging: Promise<void> | undefined;
  #isExhausted = false;

  constructor(ledger: ItemLedger, engine: EmbeddedEngine) {
    this.#ledger = ledger;
    this.#engine = engine;
  }

  get differs(): boolean {
    return this.#isExhausted;
  }

  async add(chunk: NumberedChunk): Promise<void> {
    const group = this.#group;
    this.#settled = group.settled;
    group.chunks.push(chunk);
    group.units += chunk.newItems;
    group.rows += chunk.codes.length;
    group.isBeforePause ||= chunk.isBeforePause === true;
    if (group.chunks.length >= mostChunks) await this.#charging;
    this.#chargeIfDue();
  }

  settled(): Promise<void> {
    return this.#settled;
  }

  async flush(): Promise<void> {
    await this.#charging;
    await this.#charge();
  }

  settledRows(): number {
    return 0;
  }

  async abandon(): Promise<void> {
    const { chunks } = this.#group;
    this.#group = newGroup();
    for (const chunk of chunks) eachNew(chunk, 0, (item) => this.#ledger.forget(item));
    await this.#charging;
  }

  #chargeIfDue(): void {
    const { chunks, units, rows, isBeforePause } = this.#group;
    const isDue =
      isBeforePause || units >= chargedItems || rows >= chargedRows || chunks.length >= chargedChunks;
    if (isDue && this.#charging === undefined) void this.#charge();
  }

  /** Charges the waiting chunks. */
  #charge(): Promise<void> {
    const group = this.#group;
    this.#group = newGroup();
    this.#charging = this.#settle(group)
      .then(group.settle, group.fail)
      .then(() => {
        this.#charging = undefined;
        this.#chargeIfDue();
      });
    return this.#charging;
  }

  async #settle({ chunks, units }: Group): Promise<void> {
    let granted = await this.#take(units);
    for (const chunk of chunks) {
      if (granted < chunk.newItems)
        eachNew(chunk, granted, (item) => this.#ledger.give(item, notCheckedCode));
      granted = Math.max(0, granted - chunk.newItems);
    }
  }

  /** Charges up to `units`. Returns the number of units granted. */
  async #take(units: number): Promise<number> {
    if (this.#isExhausted || units === 0) return 0;
    const { charged, exhausted, quota } = await this.#engine.charge(units).catch((error: unknown) => {
      this.#ledger.charged += unitsOf(error);
      throw error;
    });
    this.#ledger.charged += charged;
    this.#isExhausted = exhausted;
    this.#ledger.quota = quota;
    return charged;
  }
}

/** Calls `use` with the new items of a chunk after the first `granted` ones. */
function eachNew(
  { hashes, items, isNew }: NumberedChunk,
  granted: number,
  use: (item: ItemHash) => void,
): void {
  const all = items?.hashes ?? hashes;
  let seen = 0;
  for (let place = 0; place < isNew.length; place++) {
    if (isNew[place] === 0 || seen++ < granted) continue;
    use({ low: all[2 * place]!, high: all[2 * place + 1]! });
  }
}

function newGroup(): Group {
  let [settle, fail]: [Group["settle"], Group["fail"]] = [() => {}, () => {}];
  const settled = new Promise<void>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  // A failure ends the waits of the run, whether or not a chunk waits for this charge.
  settled.catch(() => {});
  return { chunks: [], units: 0, rows: 0, isBeforePause: false, settled, settle, fail };
}
