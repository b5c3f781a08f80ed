/** The verdicts on the items of fields that may have several, and the choice of the item that decides. */
import type { Status } from "../../validator/validator.js";
import { isGood } from "../items/cells.js";

export interface ItemVerdicts {
  readonly codes: Uint8Array;
  readonly hashes: Int32Array;
  /** The field of each item, numbered row by row over the columns with items. Fields without an item are listed once. */
  readonly fields: Int32Array;
}

export type ItemVerdict = { readonly code: number; readonly low: number; readonly high: number };

export type Decides = (code: number, earlier: number) => boolean;

export class FieldVerdicts {
  readonly #fields: number[] = [];
  readonly #codes: number[] = [];
  readonly #hashes: number[] = [];

  constructor(
    readonly codes: Uint8Array,
    readonly hashes: Int32Array,
  ) {}

  /** Fields must be put in order. `nth` is the index of the item in its field. */
  put(field: number, nth: number, { code, low, high }: ItemVerdict): void {
    if (nth > 0) {
      this.#fields.push(field);
      this.#codes.push(code);
      this.#hashes.push(low, high);
      return;
    }
    this.codes[field] = code;
    this.hashes[2 * field] = low;
    this.hashes[2 * field + 1] = high;
  }

  /** Also gives each field the code of its deciding item. Undefined if each has at most one. */
  all(decides: Decides): ItemVerdicts | undefined {
    const others = this.#fields.length;
    if (others === 0) return undefined;
    const count = this.codes.length + others;
    const all = { ...emptyVerdicts(count), fields: new Int32Array(count) };
    let from = 0;
    for (let nth = 0; nth <= others; nth++) {
      const to = nth < others ? this.#fields[nth]! + 1 : this.codes.length;
      all.codes.set(this.codes.subarray(from, to), from + nth);
      all.hashes.set(this.hashes.subarray(2 * from, 2 * to), 2 * (from + nth));
      for (let field = from; field < to; field++) all.fields[field + nth] = field;
      from = to;
      if (nth === others) break;
      all.fields[to + nth] = to - 1;
      all.codes[to + nth] = this.#codes[nth]!;
      all.hashes.set(this.#hashes.slice(2 * nth, 2 * nth + 2), 2 * (to + nth));
    }
    for (const [nth, field] of this.#fields.entries()) {
      if (decides(this.#codes[nth]!, this.codes[field]!)) this.codes[field] = this.#codes[nth]!;
    }
    return all;
  }
}

export const emptyVerdicts = (count: number): { codes: Uint8Array; hashes: Int32Array } => ({
  codes: new Uint8Array(count),
  hashes: new Int32Array(2 * count),
});

export function takeDeciding(codes: Uint8Array, items: ItemVerdicts, decides: Decides): void {
  let last = -1;
  for (let index = 0; index < items.fields.length; index++) {
    const field = items.fields[index]!;
    const code = items.codes[index]!;
    const isFirst = field !== last;
    last = field;
    if (isFirst || decides(code, codes[field]!)) codes[field] = code;
  }
}

export function goodRows(
  statuses: readonly Status[],
  columns: number,
  codes: Uint8Array,
  { codes: all, fields }: Pick<ItemVerdicts, "codes"> & Partial<ItemVerdicts> = { codes },
): Uint8Array {
  const isGoodCode = statuses.map(isGood);
  const good = new Uint8Array(codes.length / columns);
  for (let index = 0; index < all.length; index++) {
    if (!isGoodCode[all[index]!]) continue;
    const field = fields ? fields[index]! : index;
    good[columns === 1 ? field : Math.floor(field / columns)] = 1;
  }
  return good;
}

export function decidingIndices(codes: Uint8Array, items: ItemVerdicts): Uint32Array {
  const found = new Uint32Array(codes.length);
  let nth = 0;
  let last = -1;
  let isFound = false;
  for (let index = 0; index < items.fields.length; index++) {
    const field = items.fields[index]!;
    nth = field === last ? nth + 1 : 0;
    isFound = field === last && isFound;
    last = field;
    if (isFound || items.codes[index] !== codes[field]) continue;
    found[field] = nth;
    isFound = true;
  }
  return found;
}
