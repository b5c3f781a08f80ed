/** Looks at the rows of a run and counts what the report shows besides the summary. Keeps domains, no addresses, unless asked. */
import type { ItemHash } from "../classifier/item-hash.js";
import { DistinctItems } from "../run/distinct-items.js";
import {
  domainLengthMask,
  domainWords,
  type ItemMailboxes,
  type ObservedRows,
  type RowObserver,
} from "../run/run-options.js";
import { hasItem } from "../run/status-codes.js";
import { type Kind, knownStatuses, type Verdict } from "../validator/validator.js";
import { HashedNames } from "./hashed-names.js";
import type { DateColumn } from "./months.js";
import { type NamedCounts, TopCounts } from "./top-counts.js";

/** Series of the counts by status: the known statuses, then all others. */
export const series: readonly string[] = [...knownStatuses, "other"];
/** Most rows of a list that are shown with their addresses. */
const mostAddresses = 100;
/** Most groups of typos. */
const mostTypos = 20;
/** Most dates whose month is kept. */
const mostDates = 10_000;
/** Most domains whose suggestion is kept. */
const mostSuggestions = 10_000;

/** A row shown with its address. */
interface ShownRow {
  readonly file: string;
  /** Line on which it starts, from 1; undefined where lines are not counted. */
  readonly line: number | undefined;
  readonly item: string;
  readonly status: string;
  readonly reason: string | undefined;
  readonly suggestion: string | undefined;
}

/** Counts that are not in the summary of a run. */
export interface Collected {
  /** Mistyped domains with the domains that are meant, as `gmial.com → gmail.com`. */
  readonly typos: readonly NamedCounts[];
  /** Domains with the most rows, and their rows by {@link series}. */
  readonly providers: readonly NamedCounts[];
  /** Distinct addresses that reach the mailbox of another one, written in another way. */
  readonly sameMailbox: number;
  /** The column with dates, and its months from the first to the last with their rows by {@link series}. */
  readonly months: { readonly column: string; readonly counts: readonly NamedCounts[] } | undefined;
  /** Rows that are fake or disposable; undefined unless addresses are wanted. */
  readonly shownRows: readonly ShownRow[] | undefined;
  /** Whether the lists leave out rare domains. */
  readonly isApproximate: boolean;
}

/** Properties of a run that its collector needs. */
export interface CollectorOptions {
  readonly kind: Kind;
  /** Returns the verdict of the rules on an item, with reason and suggestion. */
  readonly explain: (kind: Kind, item: string) => Verdict;
  readonly withAddresses: boolean;
}

/** Counts of a file, or of all files so far. */
class Counts {
  readonly typos = new TopCounts();
  readonly providers = new TopCounts(series.length);
  /** Counts by {@link series} of each month; there are few of them. */
  readonly months = new Map<string, number[]>();
  readonly dateColumns = new Set<string>();
  /** The mailboxes of new items that are not in their canonical form. */
  readonly mailboxes = new Hashes();
  readonly rows: ShownRow[] = [];

  add({ typos, providers, months, dateColumns, mailboxes, rows }: Counts): void {
    this.typos.addAll(typos);
    this.providers.addAll(providers);
    for (const [month, counts] of months) {
      const own = this.countsOf(month);
      for (const [index, count] of counts.entries()) own[index]! += count;
    }
    for (const name of dateColumns) this.dateColumns.add(name);
    this.mailboxes.addAll(mailboxes.all);
    this.rows.push(...rows.slice(0, mostAddresses - this.rows.length));
  }

  /** Returns the counts of a month, to add to them. */
  countsOf(month: string): number[] {
    const counts = this.months.get(month) ?? series.map(() => 0);
    this.months.set(month, counts);
    return counts;
  }
}

/** Collects the counts of one run, or of the runs over several files. */
export class Collector {
  readonly #options: CollectorOptions;
  #total = new Counts();
  /** Counts of the file at hand, which are dropped if its run fails. */
  #file = new Counts();
  #isFirst = true;
  readonly #suggestedDomains = new Map<string, string | undefined>();
  #isItem: ItemMailboxes["isItem"] = () => false;
  /** The dates of the file at hand, and the counts of the month of each. */
  #dates = new HashedNames();
  #countsByDate: (number[] | undefined)[] = [];

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /**
   * Returns the observer of the run over a file.
   *
   * @param dates the column with dates, if there is one
   */
  observerOf(file: string, dates: DateColumn | undefined): RowObserver {
    this.#file = new Counts();
    this.#dates = new HashedNames();
    this.#countsByDate = [];
    if (dates !== undefined) this.#file.dateColumns.add(dates.name);
    return {
      wants: { mailboxes: this.#options.kind === "email", column: dates?.column },
      observe: (rows) => this.#observe(file, dates, rows),
    };
  }

  /** Keeps the counts of the file at hand: its run has succeeded. */
  keepFile(): void {
    if (this.#isFirst) this.#total = this.#file;
    else this.#total.add(this.#file);
    this.#isFirst = false;
    this.#file = new Counts();
  }

  /** Returns the counts of the files that were kept. */
  collected(): Collected {
    const { typos, providers, months, dateColumns, rows } = this.#total;
    const counts = Array.from(months, ([name, counts]) => ({
      ...{ name, counts },
      total: counts.reduce((sum, count) => sum + count, 0),
    })).sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      typos: typos.top(mostTypos),
      providers: providers.top(15),
      sameMailbox: this.#sameMailbox(),
      months: counts.length === 0 ? undefined : { column: [...dateColumns].join(", "), counts },
      shownRows: this.#options.withAddresses ? rows : undefined,
      isApproximate: typos.isApproximate || providers.isApproximate,
    };
  }

  #observe(file: string, dates: DateColumn | undefined, rows: ObservedRows): void {
    const { withAddresses } = this.#options;
    const { codes, statuses, reasons, mailboxes } = rows;
    if (mailboxes) this.#addMailboxes(mailboxes);
    const seriesOf = statuses.map((status) => {
      const known = series.indexOf(status);
      return known === -1 ? series.length - 1 : known;
    });
    const domains = this.#countDomains(rows, seriesOf);
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      if (!hasItem(code)) continue;
      const status = statuses[code]!;
      const reason = reasons[code];
      if (status === "fake" && (reason === undefined || reason === "typo-domain"))
        this.#addTypo(rows, this.#domainText(rows, row, domains[row]!));
      if (dates) {
        const counts = this.#monthCounts(dates, rows, row);
        if (counts !== undefined) counts[seriesOf[code]!]!++;
      }
      if (withAddresses && (status === "fake" || status === "disposable"))
        this.#show(file, rows, row, status);
    }
    this.#file.providers.trim();
    this.#file.typos.trim();
  }

  /**
   * Counts the domains of the rows' items.
   *
   * @param seriesOf the series of each code
   * @returns their numbers among the providers; -1 where there is none
   */
  #countDomains(rows: ObservedRows, seriesOf: readonly number[]): Int32Array {
    const { codes, statuses, reasons, facts } = rows;
    const { providers } = this.#file;
    const numbers = new Int32Array(codes.length).fill(-1);
    if (facts) providers.findAll(facts.domains, domainWords, numbers);
    // The text of an item with a fault may be anything, even an address without its sign.
    const isCounted = statuses.map((_, code) => hasItem(code) && reasons[code] !== "syntax");
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      let number = -1;
      if (isCounted[code]) {
        number = numbers[row]!;
        if (number === -1) number = this.#domainOf(rows, row);
        if (number !== -1) providers.add(number, seriesOf[code]);
      }
      numbers[row] = number;
    }
    return numbers;
  }

  /** Returns the number of the domain of a row's item among the providers; -1 if it has none. */
  #domainOf(rows: ObservedRows, row: number): number {
    const { facts } = rows;
    const { providers } = this.#file;
    const word = row * domainWords;
    const length = (facts?.domains[word + 3] ?? 0) & domainLengthMask;
    if (facts === undefined || length === 0) {
      const domain = this.#domainText(rows, row, -1);
      return domain === "" ? -1 : numberOf(providers, rows.hashOf(domain), domain);
    }
    const { domains, bytes } = facts;
    const [low, high] = [domains[word]!, domains[word + 1]!];
    const number = providers.find(low, high);
    if (number !== -1) return number;
    return providers.addName(low, high, bytes, domains[word + 2], length);
  }

  /** @param number that of the domain among the providers; -1 if it is not known */
  #domainText(rows: ObservedRows, row: number, number: number): string {
    if (number !== -1) return this.#file.providers.nameOf(number);
    return domainOf(this.#options.kind, rows.place(row).item ?? "");
  }

  /** Lists a row with its address. */
  #show(file: string, rows: ObservedRows, row: number, status: string): void {
    if (this.#file.rows.length >= mostAddresses) return;
    const { line, item = "" } = rows.place(row);
    const { reason, suggestion } = this.#explain(item, status);
    this.#file.rows.push({ file, line, item, status, reason, suggestion });
  }

  /** Returns the counts of the month of a row's date, to add to them; undefined if there is none. */
  #monthCounts({ column, monthOf }: DateColumn, rows: ObservedRows, row: number): number[] | undefined {
    const countsOf = () => {
      const month = monthOf(rows.field(row, column));
      return month === undefined ? undefined : this.#file.countsOf(month);
    };
    const { facts } = rows;
    const [low = 0, high = 0] = [facts?.fields[2 * row], facts?.fields[2 * row + 1]];
    // An empty field, or a record that the threads have not read.
    if (low === 0 && high === 0) return countsOf();
    const known = this.#dates.find(low, high);
    if (known !== -1) return this.#countsByDate[known];
    // Most lists have far fewer days than rows.
    if (this.#dates.size === mostDates) {
      this.#dates = new HashedNames();
      this.#countsByDate = [];
    }
    const date = this.#dates.add(low, high, noName);
    this.#countsByDate[date] = countsOf();
    return this.#countsByDate[date];
  }

  #addTypo(rows: ObservedRows, domain: string): void {
    if (domain === "") return;
    if (!this.#suggestedDomains.has(domain)) {
      if (this.#suggestedDomains.size >= mostSuggestions) this.#suggestedDomains.clear();
      this.#suggestedDomains.set(domain, this.#meantDomain(domain));
    }
    const meant = this.#suggestedDomains.get(domain);
    const { typos } = this.#file;
    if (meant !== undefined) typos.add(numberOf(typos, rows.hashOf(domain), `${domain} → ${meant}`));
  }

  /** Returns the domain that is probably meant, if the rules call this one mistyped. */
  #meantDomain(domain: string): string | undefined {
    const { kind } = this.#options;
    // A mailbox that every provider could have: for others there may be no suggestion.
    const item = kind === "email" ? `first.last@${domain}` : domain;
    const { reason = "", suggestion } = this.#explain(item, "fake");
    return reason.startsWith("typo-domain") && suggestion !== undefined
      ? domainOf(kind, suggestion)
      : undefined;
  }

  /** Returns the verdict of the rules on an item, if it is the status that the item has. */
  #explain(item: string, status: string): { reason: string | undefined; suggestion: string | undefined } {
    const verdict = this.#options.explain(this.#options.kind, item);
    const agrees = verdict.status === status;
    return {
      reason: agrees ? verdict.reason : undefined,
      suggestion: agrees ? verdict.suggestion : undefined,
    };
  }

  /** Keeps the mailboxes of the new items that are not in their canonical form. */
  #addMailboxes({ hashes, items, isNew, isItem }: ItemMailboxes): void {
    this.#isItem = isItem;
    const { mailboxes } = this.#file;
    for (let place = 0; place < isNew.length; place++) {
      const [low, high] = [hashes[2 * place]!, hashes[2 * place + 1]!];
      if (isNew[place] === 1 && (low !== items[2 * place] || high !== items[2 * place + 1]))
        mailboxes.add(low, high);
    }
  }

  /**
   * Returns the number of distinct items that reach a mailbox of another. An item with capitals stands for the mailbox in small
   * letters, too, as it does among items.
   */
  #sameMailbox(): number {
    const { all } = this.#total.mailboxes;
    const { isNew } = new DistinctItems().addAll(all, new Uint8Array(all.length / 2).fill(1));
    // If no item is the mailbox itself, the first one that reaches it is not the same as another.
    const unlisted = isNew.filter((one, place) => {
      return one === 1 && !this.#isItem({ low: all[2 * place]!, high: all[2 * place + 1]! });
    });
    return isNew.length - unlisted.length;
  }
}

/** Hashes in memory that grows. */
class Hashes {
  #words = new Int32Array(1024);
  #end = 0;

  /** The hashes, two words each. */
  get all(): Int32Array {
    return this.#words.subarray(0, this.#end);
  }

  add(low: number, high: number): void {
    if (this.#end === this.#words.length) this.#grow(2 * this.#end);
    this.#words[this.#end++] = low;
    this.#words[this.#end++] = high;
  }

  addAll(hashes: Int32Array): void {
    const end = this.#end + hashes.length;
    if (end > this.#words.length) this.#grow(2 * end);
    this.#words.set(hashes, this.#end);
    this.#end = end;
  }

  #grow(words: number): void {
    const before = this.all;
    this.#words = new Int32Array(words);
    this.#words.set(before);
  }
}

/** Dates are found by their hashes alone. */
const noName = new Uint8Array(0);

/** Returns the number of a name, which is added if it is new. */
function numberOf(names: TopCounts, hash: ItemHash, name: string): number {
  const number = names.find(hash.low, hash.high);
  return number === -1 ? names.addName(hash.low, hash.high, Buffer.from(name)) : number;
}

const hostname = /^[^\s@.]+(?:\.[^\s@.]+)+$/;

/** Returns the domain of an item in lower case; empty if it does not look like one. */
function domainOf(kind: Kind, item: string): string {
  const at = item.lastIndexOf("@");
  const domain = item.slice(at + 1).toLowerCase();
  return (kind === "domain" || at > 0) && hostname.test(domain) ? domain : "";
}
