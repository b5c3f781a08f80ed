/** Finds the items in the values of a table: none, one, or several. */
import { nameFitOf } from "../table/sniff/column.js";
import type { Kind, Status } from "../validator/validator.js";
import { extractItem, profiles } from "./item.js";

/** How values are read. Plain data, because worker threads get a copy. */
export interface CellOptions {
  readonly kind: Kind;
  /** Words that stand for no item, in lower case. */
  readonly emptyValues: readonly string[];
  /** Whether only the first of several items in a value is judged. */
  readonly firstOnly: boolean;
  /** Whether each value is a line of a plain list, in which something may follow the item. */
  readonly isPlainList: boolean;
}

/** Words that stand for no item, unless the user names others. */
export const usualEmptyValues = [
  ...["n/a", "na", "#n/a", "nan", "nil", "null", "(null)", "none", "(none)", "undefined"],
  ...["-", "--", "(blank)", "unknown"],
];

/** How values are read unless the user says otherwise. */
export const usualCells = { emptyValues: usualEmptyValues, firstOnly: false, isPlainList: false };

/** Longest value that is searched for several items, in characters. */
const longestList = 2000;

/** Parts of a list: quoted names, addresses in angle brackets, and text without the characters between parts. */
const listParts = /(?:"(?:[^"\\]|\\.)*"|<[^<>]*>|[^"<>,;|\r\n])+/g;
/** Text between parts that hold neither quotes nor angle brackets. Google Contacts writes ` ::: `. */
const betweenItems = /:::|\s+/;

export class Cells {
  /** Number of values so far that hold a word instead of an item. */
  emptied = 0;
  readonly #options: CellOptions;
  readonly #emptyValues: ReadonlySet<string>;

  constructor(options: CellOptions) {
    this.#options = options;
    this.#emptyValues = new Set(options.emptyValues);
  }

  /** Returns the items in a value. */
  itemsIn(value: string): readonly string[] {
    const text = value.trim();
    if (text === "") return [];
    if (this.#isEmptied(text)) {
      this.emptied++;
      return [];
    }
    const { kind, firstOnly } = this.#options;
    const several = this.#mayBeSeveral(text) ? this.#several(text) : [];
    if (several.length > 0) return firstOnly ? several.slice(0, 1) : several;
    const item = extractItem(kind, text);
    return item === "" ? [] : [item];
  }

  /** Returns whether a value stands for no item. So does the name of a column: tables repeat their headers. */
  #isEmptied(text: string): boolean {
    if (this.#emptyValues.has(text.toLowerCase())) return true;
    return /^\p{L}[\p{L} _-]*$/u.test(text) && nameFitOf(text, profiles[this.#options.kind]) === 3;
  }

  /** Returns whether it is worth to look for several items, or for a first field. */
  #mayBeSeveral(text: string): boolean {
    const { kind, isPlainList } = this.#options;
    if (text.length > longestList || !/[,;|\s]|:::/.test(text)) return false;
    // A URL may hold a comma, but no white space.
    if (kind === "domain") return /\s/.test(text) || profiles.domain.likeness(text) !== 2;
    return isPlainList || text.indexOf("@") !== text.lastIndexOf("@");
  }

  /** Returns the items in a list of at least two, and the first field of a line; empty where there is one item at most. */
  #several(text: string): readonly string[] {
    const { kind, isPlainList } = this.#options;
    const { likeness } = profiles[kind];
    const isItem = (part: string) => likeness(part) === 2;
    const found = (text.match(listParts) ?? []).map((part) => part.trim()).filter((part) => part !== "");
    const parts = found.flatMap((part) =>
      /["<>]/.test(part) || isItem(part) ? [part] : part.split(betweenItems).filter((item) => item !== ""),
    );
    const toItems = (list: readonly string[]) => list.map((part) => extractItem(kind, part));
    if (parts.length > 1 && parts.filter(isItem).length > 1) {
      return toItems(parts.filter((part) => !this.#isEmptied(part)));
    }
    const isFirstField = isPlainList && !isItem(text) && found.length > 1 && isItem(found[0]!);
    return isFirstField ? toItems(found.slice(0, 1)) : [];
  }
}

/** Statuses from the best to the worst for a value with several items. An unknown status ranks before `disposable`. */
const ranks: readonly Status[] = ["", "ok", "alias", "(other)", "disposable", "fake", "quota_exceeded"];

/** Returns the rank of a status: the worst of several items decides. An item that was not checked makes the value unchecked. */
export function badness(status: Status): number {
  const rank = ranks.indexOf(status);
  return rank === -1 ? ranks.indexOf("(other)") : rank;
}
