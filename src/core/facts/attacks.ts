/**
 * Addresses of one pattern that came together, in one month and from one source, as when somebody floods a form. No
 * verdict follows: single persons have such addresses, too.
 */
import { isDottedVariant, mailboxOf } from "../classifier/flags/flags.js";
import type { Attack } from "./facts-schema.js";
import type { GroupCounts } from "./groups.js";

/** Patterns, in words. */
export const patterns = ["spellings of a mailbox with other dots", "letters and digits at random"] as const;

/** Least rows of a pattern, also for so many of the list, and least share in a month and source. */
const fewestRows = 20;
const fewestOf = 2000;
const leastShare = 0.2;
/** Times that the share has to be that of all other rows. */
const moreThanElsewhere = 5;
const mostShown = 5;
/** Rows of a file after which every 32nd is looked at: the text of each takes as long as its check. */
export const rowsLookedAt = 50_000;
const laterStep = 32;
/** Months and sources of a file that are counted: of more, each has few rows. */
const mostPlaces = 10_000;

/** Five runs of letters and of digits in turn, two rare pairs of letters, or a number to the base of 16. */
const runsOfRandom = 5;
const rareOfRandom = 2;
const leastRandom = 8;
const leastHexadecimal = 10;

/**
 * Pairs of letters, by the first one, that at most three of 71,000 first and last names from 44 countries have, and fewer than 50 of
 * 15,000 popular domains. Half of all texts of ten random letters have two, and one in 1,600 mailboxes that are made of such names.
 */
const rarePairs = new Uint8Array(1 << 14);
for (const [first, , ...others] of (
  "b:fgmpqvwxz c:fwx d:qx f:bcdghjpqvwxz g:j h:j j:fhjpqrwx k:fqx l:x m:wx n:x p:dgjmqvwxz q:bcdefghjklmnpqrstwxyz r:x " +
  "s:x t:x v:bfhmpqwx w:bcdfghjkmpqtvwxz x:bdfghjklnqrsvwyz y:jqwx z:fjpqx"
).split(" ")) {
  for (const second of others) rarePairs[pairOf(first!.charCodeAt(0), second.charCodeAt(0))] = 1;
}

/** Of ASCII characters, which are less than 128. */
function pairOf(first: number, second: number): number {
  return (first << 7) | second;
}

/** Returns the index of the pattern of an address; -1 for none. `hasFreeDots`: whether its provider ignores dots. */
export function patternOf(item: string, hasFreeDots: () => boolean): number {
  const mailbox = mailboxOf(item.slice(0, item.lastIndexOf("@")));
  if (isDottedVariant(mailbox) && hasFreeDots()) return 0;
  return isRandom(mailbox) ? 1 : -1;
}

/** Reads a mailbox once: expressions take five times as long, and some of them minutes for thousands of characters. */
function isRandom(mailbox: string): boolean {
  let [before, length, runs, rare] = [0, 0, 0, 0];
  let isHexadecimal = true;
  for (let at = 0; at < mailbox.length; at++) {
    const code = mailbox.charCodeAt(at);
    // The marks "-", "." and "_" do not count.
    if (code === 0x2d || code === 0x2e || code === 0x5f) continue;
    const isDigit = isDigitCode(code);
    if (!isDigit && (code < 0x61 || code > 0x7a)) return false;
    if (length === 0 || isDigit !== isDigitCode(before)) runs++;
    if (code > 0x66) isHexadecimal = false;
    rare += rarePairs[pairOf(before, code)]!;
    before = code;
    length++;
  }
  if (length < leastRandom) return false;
  const isInTurn = runs >= runsOfRandom || (isHexadecimal && length >= leastHexadecimal && runs > 1);
  return rare >= rareOfRandom || isInTurn;
}

const isDigitCode = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** More than a column has values that are counted one by one. */
const placesOfMonth = 65_536;

/** Counts rows of a file by pattern, and by the numbers of their month and of their source. */
export class PatternCounts {
  readonly #counts = new Map<number, number[]>();
  #rows = 0;

  /** Returns for how many rows the next one stands; 0 if it is not looked at. */
  weigh(): number {
    const weight = this.#rows < rowsLookedAt ? 1 : laterStep;
    return this.#rows++ % weight === 0 ? weight : 0;
  }

  /** Numbers are -1 for none. */
  add(weight: number, month: number, source: number, pattern: number): void {
    const place = (month + 1) * placesOfMonth + source + 1;
    let counts = this.#counts.get(place);
    if (counts === undefined) {
      if (this.#counts.size === mostPlaces) return;
      // The last one counts all rows.
      counts = [...patterns, "all"].map(() => 0);
      this.#counts.set(place, counts);
    }
    counts[patterns.length]! += weight;
    if (pattern !== -1) counts[pattern]! += weight;
  }

  addTo(places: Places, months: readonly string[], group: GroupCounts | undefined): void {
    for (const [place, counts] of this.#counts) {
      const month = months[Math.floor(place / placesOfMonth) - 1] ?? null;
      const source = group?.valueOf((place % placesOfMonth) - 1) ?? null;
      places.add({ month, source }, counts[patterns.length]!, counts.slice(0, patterns.length));
    }
  }
}

interface Place extends Pick<Attack, "month" | "source"> {
  all: number;
  readonly counts: number[];
}

export class Places {
  readonly #places = new Map<string, Place>();

  /** Adds `all` rows, with those of each pattern. */
  add({ month, source }: Pick<Attack, "month" | "source">, all: number, counts: readonly number[]): void {
    const key = JSON.stringify([month, source?.column, source?.value.toLowerCase()]);
    const place = this.#places.get(key) ?? { month, source, all: 0, counts: patterns.map(() => 0) };
    this.#places.set(key, place);
    place.all += all;
    for (const [i, count] of counts.entries()) place.counts[i]! += count;
  }

  addAll(others: Places): void {
    for (const { all, counts, ...place } of others.#places.values()) this.add(place, all, counts);
  }

  /** Returns the largest ones. */
  attacks(): readonly Attack[] {
    const places = [...this.#places.values()];
    const total = places.reduce((sum, { all }) => sum + all, 0);
    const fewest = Math.max(fewestRows, total / fewestOf);
    return patterns
      .flatMap((pattern, i) => {
        const ofPattern = places.reduce((sum, { counts }) => sum + counts[i]!, 0);
        return places.flatMap(({ month, source, all, counts }): Attack[] => {
          const rows = counts[i]!;
          const elsewhere = (ofPattern - rows) / Math.max(1, total - all);
          const isOne = rows >= fewest && rows >= leastShare * all && rows > moreThanElsewhere * elsewhere * all;
          return isOne && all < total ? [{ month, source, pattern, rows, all }] : [];
        });
      })
      .sort((a, b) => b.rows - a.rows)
      .slice(0, mostShown);
  }
}
