// The charges of the offline engine. While the disk or a database makes one, the next chunks wait for the next charge,
// which becomes the larger, the longer that takes. Verdicts come before the charge, and are taken back where the quota
// ends. No units are charged ahead: a crash would lose them, and others would find the quota used up.
import type { ItemHash } from "../../classifier/tables/item-hash.js";
import type { EmbeddedEngine } from "../../validator/validator.js";
import type { ItemLedger } from "../item-ledger.js";
import { notCheckedCode } from "../status-codes.js";
import { ItemDigest } from "./item-digest.js";
import type { NumberedChunk } from "./settler.js";

/** Chunks and rows at which their items are charged, however few: a charge takes as long as thousands of verdicts. */
const chargedChunks = 8;
const chargedRows = 65_536;

interface Waiting {
  readonly chunk: NumberedChunk;
  readonly end: number;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/** `isSeveral`: whether another table may have items of a table that failed. */
export function createCharges(ledger: ItemLedger, engine: EmbeddedEngine, isSeveral = false) {
  let waitingChunks: Waiting[] = [];
  let lastSettled: Promise<void> = Promise.resolve();
  let items = 0;
  let asked = 0;
  let granted = 0;
  const unwrittenUnits = new Map<NumberedChunk, number>();
  const digest = new ItemDigest();
  /** Hashes of the new items of the table, kept only where another table may have them. */
  let added: Int32Array[] = [];
  let charging: Promise<void> | undefined;
  let isExhausted = false;
  let isAbandoned = false;
  /** Whether rows are delivered as they are written, as into a pipe. */
  let isDelivered = false;

  function chargeIfDue(): void {
    if (charging !== undefined || waitingChunks.length === 0 || isAbandoned) return;
    const rows = waitingChunks.reduce((sum, { chunk }) => sum + chunk.codes.length, 0);
    const isBeforePause = waitingChunks.some(({ chunk }) => chunk.isBeforePause);
    const isMuch = rows >= chargedRows || waitingChunks.length >= chargedChunks;
    if (isBeforePause || isMuch) void charge();
  }

  function charge(): Promise<void> {
    const due = waitingChunks;
    const from = asked;
    waitingChunks = [];
    asked = items;
    charging = take(asked - from)
      .then(
        (granted) => {
          for (const waiting of due) settle(waiting, from + granted);
        },
        (error: unknown) => {
          for (const { fail } of due) fail(error);
        },
      )
      .then(() => {
        charging = undefined;
        chargeIfDue();
      });
    return charging;
  }

  async function take(units: number): Promise<number> {
    if (isExhausted || units === 0) return 0;
    const { charged, exhausted, quota } = await engine.charge(units);
    ledger.charged += charged;
    ledger.quota = quota;
    granted += charged;
    isExhausted = exhausted;
    return charged;
  }

  /** `granted` is the number of the table's items up to the last one granted. */
  function settle({ chunk, end, settle }: Waiting, granted: number): void {
    const before = end - chunk.newItems;
    const own = Math.min(chunk.newItems, Math.max(0, granted - before));
    unwrittenUnits.set(chunk, own);
    const { delivery } = engine;
    if (delivery?.isNamed || own < chunk.newItems) {
      const hashes = newHashes(chunk);
      if (delivery?.isNamed) digest.add(hashes, own, delivery.marks);
      for (const item of itemsOf(hashes, own)) ledger.give(item, notCheckedCode);
    }
    settle();
  }

  return {
    get differs() {
      return isExhausted;
    },
    begin(isStream: boolean) {
      isDelivered = isStream;
      const { delivery } = engine;
      if (delivery?.isNamed) {
        delivery.items = digest;
        // What the name has paid for the next table is lent, though there are no units for others.
        isExhausted = false;
      }
      digest.begin();
      isAbandoned = false;
      items = 0;
      asked = 0;
      granted = 0;
      added = [];
      unwrittenUnits.clear();
    },
    async add(chunk: NumberedChunk) {
      items += chunk.newItems;
      if (isSeveral) added.push(newHashes(chunk));
      lastSettled = new Promise((settle, fail) => {
        waitingChunks.push({ chunk, end: items, settle, fail });
      });
      chargeIfDue();
    },
    settled: () => lastSettled,
    async flush() {
      while (charging) await charging;
      if (waitingChunks.length > 0) await charge();
    },
    settledRows: () => 0,
    /** Called when the rows of a chunk are written. Where they are delivered by that, their units are. */
    async written(chunk: NumberedChunk) {
      const units = unwrittenUnits.get(chunk) ?? 0;
      unwrittenUnits.delete(chunk);
      if (units > 0 && isDelivered) await engine.delivery?.deliver(units);
    },
    async abandon() {
      isAbandoned = true;
      await charging;
      waitingChunks = [];
      // Rows that were not delivered cost nothing: what other tables have of them is charged there.
      for (const hashes of added) for (const item of itemsOf(hashes)) ledger.forget(item);
      added = [];
      digest.forget();
      const unwritten = [...unwrittenUnits.values()].reduce((sum, units) => sum + units, 0);
      const units = isDelivered ? unwritten : granted;
      granted = 0;
      unwrittenUnits.clear();
      ledger.charged -= units;
      await engine.delivery?.giveBack(units);
      // They may be enough for the next table.
      if (units > 0) isExhausted = false;
    },
  };
}

export type Charges = ReturnType<typeof createCharges>;

/** Hashes of the items of a chunk that no chunk before it has. */
function newHashes({ hashes, items, isNew, newItems }: NumberedChunk): Int32Array {
  const all = items?.hashes ?? hashes;
  const found = new Int32Array(2 * newItems);
  let at = 0;
  for (let index = 0; index < isNew.length; index++) {
    if (isNew[index] === 0) continue;
    found[at++] = all[2 * index]!;
    found[at++] = all[2 * index + 1]!;
  }
  return found;
}

function* itemsOf(hashes: Int32Array, from = 0): Iterable<ItemHash> {
  for (let at = 2 * from; at < hashes.length; at += 2) yield { low: hashes[at]!, high: hashes[at + 1]! };
}
