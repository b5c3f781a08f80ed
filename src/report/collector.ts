/** Looks at the rows of a run and counts what the report shows besides the summary. Keeps domains, no addresses, unless asked. */
import { DistinctItems } from "../run/distinct-items.js";
import type { ObservedRows, RowObserver } from "../run/run-options.js";
import { hasItem } from "../run/status-codes.js";
import { type Kind, knownStatuses, type Verdict } from "../validator/validator.js";
import { ByteNames } from "./byte-names.js";
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
  sameMailbox = 0;
  readonly rows: ShownRow[] = [];

  add({ typos, providers, months, dateColumns, sameMailbox, rows }: Counts): void {
    this.typos.addAll(typos);
    this.providers.addAll(providers);
    for (const [month, counts] of months) {
      const own = this.countsOf(month);
      for (const [index, count] of counts.entries()) own[index]! += count;
    }
    for (const name of dateColumns) this.dateColumns.add(name);
    this.sameMailbox += sameMailbox;
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
  readonly #mailboxes = new DistinctItems();
  /** The dates of the file at hand, and the counts of the month of each. */
  readonly #dates = new ByteNames(mostDates);
  #countsByDate: (number[] | undefined)[] = [];
  /** Takes a field of a row. */
  readonly #text = new Uint8Array(256);

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
    this.#dates.keep(() => false);
    this.#countsByDate = [];
    if (dates !== undefined) this.#file.dateColumns.add(dates.name);
    return {
      wantsMailboxes: this.#options.kind === "email",
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
    const { typos, providers, months, dateColumns, sameMailbox, rows } = this.#total;
    const counts = Array.from(months, ([name, counts]) => ({
      ...{ name, counts },
      total: counts.reduce((sum, count) => sum + count, 0),
    })).sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      typos: typos.top(mostTypos),
      providers: providers.top(15),
      sameMailbox,
      months: counts.length === 0 ? undefined : { column: [...dateColumns].join(", "), counts },
      shownRows: this.#options.withAddresses ? rows : undefined,
      isApproximate: typos.isApproximate || providers.isApproximate,
    };
  }

  #observe(file: string, dates: DateColumn | undefined, rows: ObservedRows): void {
    const { kind, withAddresses } = this.#options;
    const { providers } = this.#file;
    const text = this.#text;
    const { codes, statuses, reasons, mailboxes } = rows;
    if (mailboxes) this.#addMailboxes(mailboxes);
    const seriesOf = statuses.map((status) => {
      const known = series.indexOf(status);
      return known === -1 ? series.length - 1 : known;
    });
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      if (!hasItem(code)) continue;
      const status = statuses[code]!;
      const reason = reasons[code];
      // The text of an item with a fault may be anything, even an address without its sign.
      const length = reason === "syntax" ? 0 : rows.plainDomain(row, text);
      if (length > 0) providers.addBytes(text, length, seriesOf[code]);
      else if (reason !== "syntax")
        this.#addDomain(domainOf(kind, rows.place(row).item ?? ""), seriesOf[code]!);
      if (status === "fake" && (reason === undefined || reason === "typo-domain")) {
        this.#addTypo(domainOf(kind, rows.place(row).item ?? ""));
      }
      if (dates) {
        const counts = this.#monthCounts(dates, rows, row);
        if (counts !== undefined) counts[seriesOf[code]!]!++;
      }
      if (withAddresses && (status === "fake" || status === "disposable"))
        this.#show(file, rows, row, status);
    }
  }

  #addDomain(domain: string, index: number): void {
    if (domain !== "") this.#file.providers.add(domain, index);
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
    const length = rows.plainField(row, column, this.#text);
    if (length === 0) return countsOf();
    // Most lists have far fewer days than rows.
    if (this.#dates.size >= mostDates) {
      this.#dates.keep(() => false);
      this.#countsByDate = [];
    }
    const date = this.#dates.numberOf(this.#text, length);
    if (date === this.#countsByDate.length) this.#countsByDate.push(countsOf());
    return this.#countsByDate[date];
  }

  #addTypo(domain: string): void {
    if (domain === "") return;
    if (!this.#suggestedDomains.has(domain)) {
      if (this.#suggestedDomains.size >= mostSuggestions) this.#suggestedDomains.clear();
      this.#suggestedDomains.set(domain, this.#meantDomain(domain));
    }
    const meant = this.#suggestedDomains.get(domain);
    if (meant !== undefined) this.#file.typos.add(`${domain} → ${meant}`);
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

  #addMailboxes({ hashes, isNew }: NonNullable<ObservedRows["mailboxes"]>): void {
    const items = isNew.reduce((sum, one) => sum + one, 0);
    this.#file.sameMailbox += items - this.#mailboxes.addAll(hashes, isNew).count;
  }
}

const hostname = /^[^\s@.]+(?:\.[^\s@.]+)+$/;

/** Returns the domain of an item in lower case; empty if it does not look like one. */
function domainOf(kind: Kind, item: string): string {
  const at = item.lastIndexOf("@");
  const domain = item.slice(at + 1).toLowerCase();
  return (kind === "domain" || at > 0) && hostname.test(domain) ? domain : "";
}
