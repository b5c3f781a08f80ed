/** What is stored of a list beside its files: the choices for its run, and the result. */
import { createHmac } from "node:crypto";
import type { Facts } from "../../core/facts/facts.js";
import type { Kind } from "../../core/validator/validator.js";
import type { StoredList } from "../../state/service/lists.js";

export const mostLists = 100;

export interface SentList {
  readonly name: string;
  readonly kind: Kind;
  readonly who: string;
  readonly bytes?: number | undefined;
}

export interface ListChoices {
  /** Name or number; undefined to detect it. */
  readonly column?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly sheet?: string | undefined;
  readonly drop: readonly string[];
  readonly isSplit: boolean;
  readonly isExplained?: boolean;
  /** Whether mistyped domains are repaired. */
  readonly isFixed?: boolean;
  readonly dns: boolean;
  /** Whether bad rows are left out; they end the run otherwise. */
  readonly skipsBadRows?: boolean;
}

export type ResultFile = { readonly name: string; readonly bytes: number };

/** Units of all attempts so far, as far as their statuses were told to the usage. */
export type CountedUnits = { readonly statuses: Readonly<Record<string, number>>; readonly notChecked: number };

export interface DoneResult {
  readonly counted: CountedUnits;
  readonly facts: Facts;
  readonly isExhausted: boolean;
  readonly files: readonly ResultFile[];
}

export type ListResult = DoneResult | { readonly counted: CountedUnits; readonly fault: string };

export const doneResult = ({ state, result }: StoredList): DoneResult | undefined =>
  state === "done" ? (result as DoneResult) : undefined;

export function safeName(name: string): string {
  const base = (name.split(/[/\\]/).at(-1) ?? "").replace(/[^\p{L}\p{N} ._()+-]/gu, "_").slice(-80);
  return /[\p{L}\p{N}]/u.test(base) && !base.startsWith(".") ? base : "list.csv";
}

export const countedIn = (result: unknown): CountedUnits =>
  (result as ListResult | undefined)?.counted ?? { statuses: {}, notChecked: 0 };

/** Whether all items of the list were checked. */
export const isWhole = (list: StoredList | undefined): boolean =>
  list !== undefined && doneResult(list)?.isExhausted === false;

/** Keyed, because it outlives the list: without the key, guesses of a body cannot be checked. */
export const requestHash = (body: Uint8Array, { name, kind }: SentList, choices: ListChoices, once = ""): Uint8Array =>
  createHmac("sha256", once)
    .update(body)
    .update(JSON.stringify([name, kind, choices]))
    .digest();
