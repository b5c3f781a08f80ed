/** The public suffix list as a table of names: loads in almost no time and is faster than a general library. */
import { readBuilt } from "../../../package/own-files.js";
import { fillSlots, NameTable } from "./name-table.js";

/**
 * `icann` and `private`: a suffix of this section. `icannBelow` and `privateBelow`: so is every name one label longer
 * (`*.ck`), except an `exception` (`!www.ck`). `hasMore`: the ICANN section has rules for longer names.
 */
export const suffixFlag = { icann: 1, icannBelow: 2, exception: 4, hasMore: 8, private: 16, privateBelow: 32 } as const;
export const flagBits = 6;

export type SuffixRule = { readonly rule: string; readonly isPrivate: boolean };

/** @throws Error for an exception in the private section, which has none */
export function compileSuffixTable(rules: readonly SuffixRule[]): Uint8Array {
  const { icann, icannBelow, exception, hasMore, private: isPrivateSuffix, privateBelow } = suffixFlag;
  const flags = new Map<string, number>();
  const add = (name: string, flag: number) => flags.set(name, (flags.get(name) ?? 0) | flag);
  for (const { rule, isPrivate } of rules) {
    if (rule.startsWith("!")) {
      if (isPrivate) throw new Error(`${rule}: an exception in the private section`);
      add(rule.slice(1), exception);
    } else if (rule.startsWith("*.")) add(rule.slice(2), isPrivate ? privateBelow : icannBelow);
    else add(rule, isPrivate ? isPrivateSuffix : icann);
    if (isPrivate) continue;
    for (let dot = rule.indexOf("."); dot !== -1; dot = rule.indexOf(".", dot + 1)) add(rule.slice(dot + 1), hasMore);
  }
  return new Uint8Array(fillSlots(flags, flagBits).buffer);
}

let table: NameTable | undefined;

/** Applies from now on and in all of this thread. `leftOut` low bits of the hashes are not compared. */
export function useSuffixes(slots: Int32Array, leftOut = 0): void {
  table = new NameTable(slots, leftOut + flagBits);
}

export function suffixTable(): NameTable {
  table ??= new NameTable(new Int32Array(Uint8Array.from(readBuilt("classifier/suffixes.bin")).buffer), flagBits);
  return table;
}
