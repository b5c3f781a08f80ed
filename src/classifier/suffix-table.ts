/**
 * The public suffix list as a table of names, which `npm run build` compiles. A look-up takes a fraction of the time of a general
 * library, which returns the parts of a name, and loading it takes next to nothing of a start.
 */
import { readFileSync } from "node:fs";
import { fillSlots, NameTable } from "./name-table.js";

/** What the list says of a name. */
export const suffixFlag = {
  /** The name is a suffix of the ICANN section. */
  icann: 1,
  /** So is every name one label longer: `*.ck`. */
  icannBelow: 2,
  /** But not this one: `!www.ck`. */
  exception: 4,
  /** The ICANN section has rules for longer names. */
  hasMore: 8,
  /** The name is a suffix of the private section. */
  private: 16,
  privateBelow: 32,
} as const;
const flagBits = 6;

/** A rule of the public suffix list. */
export interface SuffixRule {
  /** The rule as in the list, lower case, A-labels: `co.uk`, `*.ck`, `!www.ck`. */
  readonly rule: string;
  readonly isPrivate: boolean;
}

/** Path of the table. It is right from `src`, from `dist` and from the bundles. */
export const suffixFile = new URL("../../dist/classifier/suffixes.bin", import.meta.url);

/**
 * Compiles the rules of the list into the bytes of the table.
 *
 * @throws Error for an exception in the private section, which has none
 */
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
    for (let dot = rule.indexOf("."); dot !== -1; dot = rule.indexOf(".", dot + 1)) {
      add(rule.slice(dot + 1), hasMore);
    }
  }
  return new Uint8Array(fillSlots(flags, flagBits).buffer);
}

let table: NameTable | undefined;

/** Returns the table that idv is built with, which is loaded when it is first needed. */
export function suffixTable(): NameTable {
  table ??= new NameTable(new Int32Array(Uint8Array.from(readFileSync(suffixFile)).buffer), flagBits);
  return table;
}
