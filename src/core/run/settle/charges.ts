// The charges of the offline engine. While the disk or a database makes one, the next chunks wait for the next charge,
// which becomes the larger, the longer that takes. Verdicts come before the charge, and are taken back where the quota
// ends. No units are charged ahead: a crash would lose them, and others would find the quota used up.
import type { EmbeddedEngine } from "../../validator/validator.js";
import type { ItemLedger } from "../item-ledger.js";
import { notCheckedCode } from "../status-codes.js";
import { ItemDigest } from "./item-digest.js";
import { itemsOf, newHashes } from "./new-items.js";
import type { NumberedChunk, Settler } from "./settler.js";

/** Chunks and rows at which their items are charged, however few: a charge takes as long as thousands of verdicts. */
const chargedChunks = 8;
const chargedRows = 65_536;

interface Waiting {
  readonly chunk: NumberedChunk;
  readonly end: number;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

export class Charges implements Settler {
  readonly #ledger: ItemLedger;
  readonly #engine: EmbeddedEngine;
  /** Whether another table may have items of a table that failed. */
  readonly #isSeveral: boolean;
  #waiting: Waiting[] = [];
  #settled: Promise<void> = Promise.resolve();
  #items = 0;
  #asked = 0;
  #granted = 0;
  readonly #unwritten = new Map<NumberedChunk, number>();
  readonly #digest = new ItemDigest();
  /** Hashes of the new items of the table, kept only where another table may have them. */
  #added: Int32Array[] = [];
  #charging: Promise<void> | undefined;
  #isExhausted = false;
  #isAbandoned = false;
  #isStream = false;

  constructor(ledger: ItemLedger, engine: EmbeddedEngine, isSeveral = false) {
    this.#ledger = ledger;
    this.#engine = engine;
    this.#isSeveral = isSeveral;
  }

  get differs(): boolean {
    return this.#isExhausted;
  }

  begin(isStream: boolean): void {
    this.#isStream = isStream;
    const { delivery } = this.#engine;
    if (delivery?.isNamed) delivery.items = this.#digest;
    this.#digest.begin();
    this.#isAbandoned = false;
    this.#items = 0;
    this.#asked = 0;
    this.#granted = 0;
    this.#added = [];
    this.#unwritten.clear();
  }

  async add(chunk: NumberedChunk): Promise<void> {
    this.#items += chunk.newItems;
    if (this.#isSeveral) this.#added.push(newHashes(chunk));
    this.#settled = new Promise((settle, fail) => {
      this.#waiting.push({ chunk, end: this.#items, settle, fail });
    });
    this.#chargeIfDue();
  }

  settled(): Promise<void> {
    return this.#settled;
  }

  async flush(): Promise<void> {
    while (this.#charging) await this.#charging;
    if (this.#waiting.length > 0) await this.#charge();
  }

  settledRows(): number {
    return 0;
  }

  /** Called when the rows of a chunk are written. Where they are delivered by that, their units are. */
  async written(chunk: NumberedChunk): Promise<void> {
    const units = this.#unwritten.get(chunk) ?? 0;
    this.#unwritten.delete(chunk);
    if (units > 0 && this.#isStream) await this.#engine.delivery?.deliver(units);
  }

  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.#charging;
    this.#waiting = [];
    // Rows that were not delivered cost nothing: what other tables have of them is charged there.
    for (const hashes of this.#added) {
      for (const item of itemsOf(hashes)) this.#ledger.forget(item);
    }
    this.#added = [];
    this.#digest.forget();
    const unwritten = [...this.#unwritten.values()].reduce((sum, units) => sum + units, 0);
    const units = this.#isStream ? unwritten : this.#granted;
    this.#granted = 0;
    this.#unwritten.clear();
    this.#ledger.charged -= units;
    await this.#engine.delivery?.giveBack(units);
  }

  #chargeIfDue(): void {
    if (this.#charging !== undefined || this.#waiting.length === 0 || this.#isAbandoned) return;
    const rows = this.#waiting.reduce((sum, { chunk }) => sum + chunk.codes.length, 0);
    const isBeforePause = this.#waiting.some(({ chunk }) => chunk.isBeforePause);
    const isMuch = rows >= chargedRows || this.#waiting.length >= chargedChunks;
    if (isBeforePause || isMuch) void this.#charge();
  }

  #charge(): Promise<void> {
    const due = this.#waiting;
    const [from, to] = [this.#asked, this.#items];
    this.#waiting = [];
    this.#asked = to;
    this.#charging = this.#take(to - from)
      .then(
        (granted) => {
          for (const waiting of due) this.#settle(waiting, from + granted);
        },
        (error: unknown) => {
          for (const { fail } of due) fail(error);
        },
      )
      .then(() => {
        this.#charging = undefined;
        this.#chargeIfDue();
      });
    return this.#charging;
  }

  async #take(units: number): Promise<number> {
    if (this.#isExhausted || units === 0) return 0;
    const { charged, exhausted, quota } = await this.#engine.charge(units);
    this.#ledger.charged += charged;
    this.#ledger.quota = quota;
    this.#granted += charged;
    this.#isExhausted = exhausted;
    return charged;
  }

  /** `granted` is the number of the table's items up to the last one granted. */
  #settle({ chunk, end, settle }: Waiting, granted: number): void {
    const before = end - chunk.newItems;
    const own = Math.min(chunk.newItems, Math.max(0, granted - before));
    this.#unwritten.set(chunk, own);
    const { delivery } = this.#engine;
    if (delivery?.isNamed || own < chunk.newItems) {
      const hashes = newHashes(chunk);
      if (delivery?.isNamed) this.#digest.add(hashes, own, delivery.marks);
      for (const item of itemsOf(hashes, own)) this.#ledger.give(item, notCheckedCode);
    }
    settle();
  }
}
