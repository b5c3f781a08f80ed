/** Finds the items in the values of a table: none, one, or several. */
import { findSuffix } from "../classifier/rules/public-suffix.js";
import { nameFitOf } from "../table/sniff/column.js";
import type { ItemTest } from "../table/sniff/item-profile.js";
import type { Kind, Status } from "../validator/validator.js";
import { extractItem, fieldsOf, isItem, itemsInJson, listedItems, longestList, profiles } from "./item.js";

/** How values are read. Plain data, because worker threads get a copy. */
export interface CellOptions {
  readonly kind: Kind;
  /** Words that stand for no item, in lower case. */
  readonly emptyValues: readonly string[];
  /** Which of several items in a value decides: the first, which alone is judged, the worst or the best. */
  readonly deciding: "first" | "worst" | "best";
  /** Whether each value is a line of a plain list, in which something may follow the item. */
  readonly isPlainList: boolean;
}

/** Words that stand for no item, unless the user names others. */
export const usualEmptyValues = [
  ...["n/a", "na", "#n/a", "nan", "nil", "null", "(null)", "none", "(none)", "undefined"],
  ...["\\n", "0", "x", "false", "(blank)", "unknown", "no email", "no e-mail", "[no email]"],
  ...["keine", "kein", "k.a.", "k. a.", "entfällt", "unbekannt", "aucun", "aucune", "néant", "inconnu"],
  ...["ninguno", "ninguna", "nessuno", "nessuna", "brak", "ingen", "saknas", "geen", "n.v.t.", "нет"],
  ...["なし", "无", "無", "없음"],
];

/** How values are read unless the user says otherwise. */
export const usualCells: Omit<CellOptions, "kind"> = {
  emptyValues: usualEmptyValues,
  deciding: "worst",
  isPlainList: false,
};

/** An address with nothing around it, which stands for no word and is no list. */
const plainAddress = /^\w[\w.+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+$/i;

export class Cells {
  /** Number of values so far that hold a word instead of an item. */
  emptied = 0;
  readonly #options: CellOptions;
  readonly #emptyValues: ReadonlySet<string>;

  constructor(options: CellOptions) {
    this.#options = options;
    this.#emptyValues = new Set(options.emptyValues);
    const usual = new Set(usualEmptyValues);
    this.hasItemWords = options.emptyValues.some((word) => !usual.has(word) && /[@.]/.test(word));
  }

  /** Whether a word for no item may look like an item, so that the bytes of a value do not tell. */
  readonly hasItemWords: boolean;

  /** Whether a value that is one address with nothing around it is the item. */
  get takesPlainAddresses(): boolean {
    return this.#options.kind === "email" && !this.hasItemWords;
  }

  /** Returns whether a trimmed value stands for no item. */
  isNone(text: string): boolean {
    return text === "" || this.#isEmptied(text);
  }

  /** Returns the items in a value. */
  itemsIn(value: string): readonly string[] {
    const text = value.trim();
    if (text === "") return [];
    // Most values are one address.
    if (
      plainAddress.test(text) &&
      this.#options.kind === "email" &&
      !this.#emptyValues.has(text.toLowerCase())
    )
      return [text];
    if (this.#isEmptied(text)) {
      this.emptied++;
      return [];
    }
    const { kind, deciding } = this.#options;
    const inJson = itemsInJson(kind, text);
    const listed = (inJson ?? listedItems(kind, text)).filter((part) => !this.#isEmptied(part));
    const items = listed.length > 0 || inJson ? listed : [this.#onlyItem(text) ?? text];
    const found = items.map((item) => extractItem(kind, item)).filter((item) => item !== "");
    return deciding === "first" ? found.slice(0, 1) : found;
  }

  /**
   * Returns the one item of a list with words for none, of a value with a name behind it, or of a line in a plain list with more
   * fields or a comment.
   */
  #onlyItem(text: string): string | undefined {
    const { kind, isPlainList } = this.#options;
    if (isItem(kind, text) || text.length > longestList) return undefined;
    const [first, ...others] = fieldsOf(isPlainList ? text.replace(/\s#\s.*$/, "") : text);
    if (first === undefined || !isItem(kind, first)) return undefined;
    const isAlone = others.length > 0 && others.every((part) => this.#isEmptied(part));
    return isPlainList || isAlone || isNamed(first, text) ? first : undefined;
  }

  /**
   * Returns whether a value stands for no item: a word for that, marks only, the name of a column, as tables repeat their
   * headers, or a comment or heading in a plain list.
   */
  #isEmptied(text: string): boolean {
    if (this.#emptyValues.has(text.toLowerCase()) || !/[\p{L}\p{N}@]/u.test(text)) return true;
    if (this.#options.isPlainList && /^(?:#|\/\/|--|;)\s|^[^@.]*:$/.test(text)) return true;
    return /^\p{L}[\p{L} _-]*$/u.test(text) && nameFitOf(text, profiles[this.#options.kind]) === 3;
  }
}

/** Returns the test that shows whether a row is in step with its table; see table/scan/broken-rows.ts. */
export function itemTest({ kind, emptyValues }: Pick<CellOptions, "kind" | "emptyValues">): ItemTest {
  const cells = new Cells({ ...usualCells, kind, emptyValues });
  return {
    isItem: (field) => {
      if (profiles[kind].likeness(field) > 0) return true;
      const items = cells.itemsIn(field);
      return items.length > 0 && items.every((item) => isItem(kind, item));
    },
    isGlued: (field) => cells.itemsIn(field).some(isGlued),
    holds: profiles[kind].holds,
    isNone: (field) => cells.isNone(field.trim()),
  };
}

/** Returns whether an item ends with a known top-level domain and something more: `ann@posteo.denew`. */
function isGlued(item: string): boolean {
  const tld = /\.([a-z]{2}[^\s.@]*)$/i.exec(item)?.[1]?.toLowerCase();
  if (tld === undefined) return false;
  const isKnown = (name: string) => findSuffix(`x.${name}`) !== "unknown-tld";
  return (
    !isKnown(tld) &&
    Array.from(tld, (_, end) => tld.slice(0, end)).some((name) => /^[a-z]{2,}$/.test(name) && isKnown(name))
  );
}

/**
 * Returns whether a name or a note follows an address, as in a row with other delimiters than its table. In
 * `ann@example.co,uk`, it is a part of the domain.
 */
const isNamed = (address: string, text: string): boolean =>
  /@.*\./.test(address) &&
  text.startsWith(address) &&
  /^[,;|\t][^\s@][^@]*$/.test(text.slice(address.length)) &&
  !/^.[a-z]{2,3}$/.test(text.slice(address.length));

/** Statuses from the best to the worst for a value with several items. An unknown status ranks before `disposable`. */
const ranks: readonly Status[] = ["", "ok", "alias", "(other)", "disposable", "fake", "quota_exceeded"];

/** The same where the best item decides. Without the status of one that was not checked, it may not be known which that is. */
const ranksOfBest: readonly Status[] = ["ok", "alias", "quota_exceeded", "(other)", "disposable", "fake"];

/** Returns whether a status is one of items that can be written to. */
export const isGood = (status: Status | undefined): boolean => status === "ok" || status === "alias";

/** Returns whether a status decides about a value before that of an earlier item in it. */
export function decidesBefore(status: Status, earlier: Status, deciding: CellOptions["deciding"]): boolean {
  const order = deciding === "best" ? ranksOfBest : ranks;
  const [rank, other] = [status, earlier].map((name) =>
    order.indexOf(order.includes(name) ? name : "(other)"),
  ) as [number, number];
  return deciding === "best" ? rank < other : rank > other;
}
