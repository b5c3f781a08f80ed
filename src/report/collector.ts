/** Looks at the rows of a run and counts what the report shows besides the summary. Keeps domains, no addresses, unless asked. */
import { hashItem } from "../classifier/item-hash.js";
import { DistinctItems } from "../run/distinct-items.js";
import { extractItem, listedItems, mailboxKey } from "../run/item.js";
import type { ObservedRows, RowObserver } from "../run/run-options.js";
import { hasItem } from "../run/status-codes.js";
import { type Kind, knownStatuses, type Verdict } from "../validator/validator.js";
import type { DateColumn } from "./months.js";
import { type NamedCounts, TopCounts } from "./top-counts.js";

/** Series of the counts by status: the known statuses, then all others. */
export const series: readonly string[] = [...knownStatuses, "other"];
/** Most rows of a list that are shown with their addresses. */
const mostAddresses = 100;
/** Most groups of typos. */
const mostTypos = 20;
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
  readonly months = new TopCounts(series.length);
  readonly dateColumns = new Set<string>();
  sameMailbox = 0;
  readonly rows: ShownRow[] = [];

  add({ typos, providers, months, dateColumns, sameMailbox, rows }: Counts): void {
    this.typos.addAll(typos);
    this.providers.addAll(providers);
    this.months.addAll(months);
    for (const name of dateColumns) this.dateColumns.add(name);
    this.sameMailbox += sameMailbox;
    this.rows.push(...rows.slice(0, mostAddresses - this.rows.length));
  }
}

/** Collects the counts of one run, or of the runs over several files. */
export class Collector {
  readonly #options: CollectorOptions;
  readonly #total = new Counts();
  /** Counts of the file at hand, which are dropped if its run fails. */
  #file = new Counts();
  readonly #suggestedDomains = new Map<string, string | undefined>();
  readonly #mailboxes = new DistinctItems();

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
    if (dates !== undefined) this.#file.dateColumns.add(dates.name);
    return { observe: (rows) => this.#observe(file, dates, rows) };
  }

  /** Keeps the counts of the file at hand: its run has succeeded. */
  keepFile(): void {
    this.#total.add(this.#file);
    this.#file = new Counts();
  }

  /** Returns the counts of the files that were kept. */
  collected(): Collected {
    const { typos, providers, months, dateColumns, sameMailbox, rows } = this.#total;
    const counts = months.top(Number.POSITIVE_INFINITY).toSorted((a, b) => (a.name < b.name ? -1 : 1));
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
    const { kind } = this.#options;
    const { codes, isFirst, statuses, reasons } = rows;
    const seriesOf = statuses.map((status) => {
      const known = series.indexOf(status);
      return known === -1 ? series.length - 1 : known;
    });
    for (const [row, code] of codes.entries()) {
      if (!hasItem(code)) continue;
      const status = statuses[code]!;
      const { line, value } = rows.place(row);
      const item = this.#itemOf(value, status);
      // The text of an item with a fault may be anything, even an address without its sign.
      const domain = reasons[code] === "syntax" ? "" : domainOf(kind, item);
      if (domain !== "") this.#file.providers.add(domain, seriesOf[code]!);
      if (status === "fake") this.#addTypo(domain, reasons[code]);
      if (isFirst[row] === 1) this.#addMailbox(item);
      const month = dates?.monthOf(rows.field(row, dates.column));
      if (month !== undefined) this.#file.months.add(month, seriesOf[code]!);
      const isBad = status === "fake" || status === "disposable";
      if (this.#options.withAddresses && isBad && this.#file.rows.length < mostAddresses) {
        const { reason, suggestion } = this.#explain(item, status);
        this.#file.rows.push({ file, line, item, status, reason, suggestion });
      }
    }
  }

  /** Returns the item in a field; of several, the first one with the row's status. */
  #itemOf(value: string, status: string): string {
    const { kind, explain } = this.#options;
    const several = listedItems(kind, value);
    const deciding = several.find((part) => explain(kind, extractItem(kind, part)).status === status);
    return extractItem(kind, deciding ?? several[0] ?? value);
  }

  #addTypo(domain: string, reason: string | undefined): void {
    if (domain === "" || (reason !== undefined && reason !== "typo-domain")) return;
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

  #addMailbox(item: string): void {
    const { kind } = this.#options;
    if (kind === "domain") return;
    const hash = hashItem(this.#mailboxes.seed, mailboxKey(kind, item));
    if (this.#mailboxes.get(hash) === 0) this.#mailboxes.set(hash, 1);
    else this.#file.sameMailbox++;
  }
}

const hostname = /^[^\s@.]+(?:\.[^\s@.]+)+$/;

/** Returns the domain of an item in lower case; empty if it does not look like one. */
function domainOf(kind: Kind, item: string): string {
  const at = item.lastIndexOf("@");
  const domain = item.slice(at + 1).toLowerCase();
  return (kind === "domain" || at > 0) && hostname.test(domain) ? domain : "";
}
