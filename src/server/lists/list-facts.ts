/** What is stored of a list beside its files: the choices for its run, and the result. */
import type { Facts } from "../../core/facts/facts.js";

export const mostLists = 100;

export interface ListChoices {
  /** Name or number; undefined to detect it. */
  readonly column?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly drop: readonly string[];
  readonly isSplit: boolean;
  readonly isExplained?: boolean;
  readonly dns: boolean;
}

export interface ResultFile {
  readonly name: string;
  readonly bytes: number;
}

/** Units of all attempts so far, as far as their statuses were told to the usage. */
export interface CountedUnits {
  readonly statuses: Readonly<Record<string, number>>;
  readonly notChecked: number;
}

export type ListResult =
  | {
      readonly counted: CountedUnits;
      readonly facts: Facts;
      readonly isExhausted: boolean;
      readonly files: readonly ResultFile[];
    }
  | { readonly counted: CountedUnits; readonly fault: string };

export function safeName(name: string): string {
  const base = (name.split(/[/\\]/).at(-1) ?? "").replace(/[^\p{L}\p{N} ._()+-]/gu, "_").slice(-80);
  return /[\p{L}\p{N}]/u.test(base) && !base.startsWith(".") ? base : "list.csv";
}
