/** Counts what the report shows besides the summary. Stores domains, but addresses only if asked to. */
import { ignoresDots } from "../classifier/canonical.js";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import { domainLengthMask, domainWords } from "../kernel/layout.js";
import { DistinctItems } from "../run/distinct-items.js";
import type { ItemMailboxes, ObservedRows, RowObserver } from "../run/run-options.js";
import { hasItem } from "../run/status-codes.js";
import { columnName, type Table } from "../table/table.js";
import type { Kind, Verdict } from "../validator/validator.js";
import { PatternCounts, Places, patternOf } from "./attacks.js";
import type { Breakdown, Group } from "./facts-schema.js";
import { findGroupColumns, type GroupColumn, GroupCounts, isBad, series } from "./groups.js";
import { Hashes } from "./hashed-names.js";
import { KeyCounts, noSeries } from "./key-counts.js";
import { type DateColumn, findDateColumn } from "./months.js";
import { TopCounts } from "./top-counts.js";

const mostAddresses = 100;
const mostTypos = 20;
/** Limit on cached suggestions; the cache starts over when it is full. */
const mostSuggestions = 10_000;

export interface CollectorOptions {
  readonly kind: Kind;
  readonly explain: (kind: Kind, item: string) => Verdict;
  readonly withAddresses: boolean;
  readonly withFlags: boolean;
}

class Counts {
  /** Mistyped domains with the intended domains, such as `gmial.com → gmail.com`. */
  readonly typos = new TopCounts();
  readonly providers = new TopCounts(series.length);
  readonly months = new Map<string, number[]>();
  readonly dateColumns = new Set<string>();
  /** Mailboxes of new items that are not in their canonical form. */
  readonly mailboxes = new Hashes();
  readonly rows: NonNullable<Breakdown["shownRows"]>[number][] = [];
  readonly flags = new Map<string, number>();
  readonly places = new Places();

  add({ typos, providers, months, dateColumns, mailboxes, rows, flags, places }: Counts): void {
    this.places.addAll(places);
    for (const [flag, count] of flags) this.countFlag(flag, count);
    this.typos.addAll(typos);
    this.providers.addAll(providers);
    for (const [month, counts] of months) this.addMonth(month, counts);
    for (const name of dateColumns) this.dateColumns.add(name);
    this.mailboxes.addAll(mailboxes.all);
    this.rows.push(...rows.slice(0, mostAddresses - this.rows.length));
  }

  countFlag(flag: string, rows: number): void {
    this.flags.set(flag, (this.flags.get(flag) ?? 0) + rows);
  }

  addMonth(month: string, counts: readonly number[]): void {
    const own = this.months.get(month);
    this.months.set(month, own ? own.map((count, nth) => count + counts[nth]!) : [...counts]);
  }
}

interface Wanted {
  readonly wanted?: number | undefined;
  readonly isSeveral?: boolean;
  readonly findsGroups?: boolean;
  readonly shown: (name: string) => string;
}

export class Collector {
  #total = new Counts();
  /** Counts of the current file, which are dropped if its run fails. */
  #file = new Counts();
  #groups: readonly GroupCounts[] = [];
  #isFirst = true;
  readonly #suggestedDomains = new Map<string, string | undefined>();
  #isItem: ItemMailboxes["isItem"] = () => false;
  #months: KeyCounts | undefined;
  #patterns = new PatternCounts();

  constructor(private readonly options: CollectorOptions) {}

  /** Returns an observer that counts rows by month, by columns with few values, and by the column `wanted`. */
  observerFor(
    file: string,
    table: Table,
    { wanted, isSeveral = false, findsGroups = true, shown }: Wanted,
  ): RowObserver {
    const items = [table.column, ...table.otherColumns];
    const sample = (column: number) => (items.includes(column) ? [] : table.firstValues(column));
    const dates = findDateColumn(table.names, sample);
    const others = (column: number) => (column === dates?.column ? [] : sample(column));
    const names = Array.from({ length: table.width }, (_, column) => columnName(table, column));
    // Members within others have columns after those of the table, and are counted only if they are wanted.
    if (wanted !== undefined) names[wanted] = columnName(table, wanted);
    const isLooked = findsGroups && table.header !== undefined;
    const groups = findGroupColumns(names, isLooked ? others : () => [], wanted, isSeveral);
    return this.observerOf(shown(file), dates && { ...dates, name: shown(dates.name) }, groups);
  }

  observerOf(file: string, dates: DateColumn | undefined, groups: readonly GroupColumn[] = []): RowObserver {
    this.#file = new Counts();
    this.#groups = groups.map((group) => new GroupCounts(group, series));
    this.#months = dates && monthCounts(dates);
    this.#patterns = new PatternCounts();
    if (dates !== undefined) this.#file.dateColumns.add(dates.name);
    return {
      wants: {
        mailboxes: this.options.kind === "email",
        columns: [...(dates ? [dates] : []), ...groups].map(({ column }) => column),
      },
      observe: (rows) => this.#observe(file, rows),
    };
  }

  groups(): readonly Group[] {
    return this.#groups.flatMap((counts) => counts.group() ?? []);
  }

  keepFile(): void {
    const months = this.#months?.keys ?? [];
    for (const [number, month] of months.entries()) this.#file.addMonth(month, this.#months!.countsOf(number));
    this.#patterns.addTo(this.#file.places, months, this.#groups[0]);
    if (this.#isFirst) this.#total = this.#file;
    else this.#total.add(this.#file);
    this.#isFirst = false;
    this.#file = new Counts();
  }

  breakdown(): Breakdown {
    const { typos, providers, months, dateColumns, rows, flags, places } = this.#total;
    const totalOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
    const counts = Array.from(months, ([name, counts]) => ({ name, counts, total: totalOf(counts) }));
    counts.sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      series,
      typos: typos.top(mostTypos),
      providers: providers.top(12, (nth) => isBad(series[nth]!)),
      sameMailbox: this.#sameMailbox(),
      months: counts.length === 0 ? null : { column: [...dateColumns].join(", "), counts },
      shownRows: this.options.withAddresses ? rows : null,
      flags: Object.fromEntries([...flags].sort((a, b) => b[1] - a[1])),
      attacks: places.attacks(),
      isApproximate: typos.isApproximate || providers.isApproximate,
    };
  }

  #observe(file: string, rows: ObservedRows): void {
    const { codes, statuses, mailboxes, facts } = rows;
    if (mailboxes) this.#addMailboxes(mailboxes);
    const seriesOfCode = statuses.map((status, code) => {
      const known = series.indexOf(status);
      return hasItem(code) ? (known === -1 ? series.length - 1 : known) : noSeries;
    });
    const seriesOf = codes.map((code) => seriesOfCode[code] ?? noSeries);
    const domains = this.#countDomains(rows, seriesOf);
    const months = this.#months?.count(rows, facts?.fields[0], seriesOf);
    const before = this.#months ? 1 : 0;
    const [sources] = this.#groups.map((group, nth) => group.count(rows, facts?.fields[before + nth], seriesOf));
    if (this.options.kind === "email" && before + this.#groups.length > 0) {
      this.#countPatterns(rows, { seriesOf, domains, months, sources });
    }
    this.#lookAtRows(file, rows, domains);
    this.#file.providers.trim();
    this.#file.typos.trim();
  }

  #countPatterns(rows: ObservedRows, { seriesOf, domains, months, sources }: RowKeys): void {
    for (let row = 0; row < seriesOf.length; row++) {
      const weight = seriesOf[row] === noSeries ? 0 : this.#patterns.weigh();
      if (weight === 0) continue;
      const pattern = this.#patternOf(rows, row, domains[row]!);
      this.#patterns.add(weight, months?.[row] ?? -1, sources?.[row] ?? -1, pattern);
    }
  }

  #lookAtRows(file: string, rows: ObservedRows, domains: Int32Array): void {
    const { withAddresses, withFlags } = this.options;
    const { codes, statuses, reasons } = rows;
    const isLookedAt = statuses.map(
      (status, code) =>
        hasItem(code) && (withFlags || mayBeTypo(status, reasons[code]) || (withAddresses && isBad(status))),
    );
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      if (!isLookedAt[code]) continue;
      const status = statuses[code]!;
      if (withFlags) for (const flag of rows.flagsOf(row)) this.#file.countFlag(flag, 1);
      if (mayBeTypo(status, reasons[code])) this.#addTypo(rows, row, this.#domainText(rows, row, domains[row]!));
      if (withAddresses && isBad(status)) this.#show(file, rows, row, status);
    }
  }

  #countDomains(rows: ObservedRows, seriesOf: Uint8Array): Int32Array {
    const { codes, statuses, reasons, facts } = rows;
    const { providers } = this.#file;
    const numbers = new Int32Array(codes.length).fill(-1);
    if (facts) providers.names.findAll(facts.domains, domainWords, numbers);
    // An item with a syntax fault may contain anything, even an address without its @.
    const isCounted = statuses.map((_, code) => hasItem(code) && reasons[code] !== "syntax");
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      let number = -1;
      if (isCounted[code]) {
        number = numbers[row]!;
        if (number === -1) number = this.#domainOf(rows, row);
        if (number !== -1) providers.add(number, seriesOf[row]);
      }
      numbers[row] = number;
    }
    return numbers;
  }

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
    const low = domains[word]!;
    const high = domains[word + 1]!;
    const number = providers.names.find(low, high);
    if (number !== -1) return number;
    return providers.names.add(low, high, bytes, domains[word + 2], length);
  }

  #domainText(rows: ObservedRows, row: number, number: number): string {
    if (number !== -1) return this.#file.providers.nameOf(number);
    return domainOf(this.options.kind, rows.item(row) ?? "");
  }

  #show(file: string, rows: ObservedRows, row: number, status: string): void {
    if (this.#file.rows.length >= mostAddresses) return;
    const { line = null, item = "" } = rows.locate(row);
    const { reason = null, suggestion = null } = this.#explain(item, status);
    this.#file.rows.push({ file, line, item, status, reason, suggestion });
  }

  #patternOf(rows: ObservedRows, row: number, domain: number): number {
    const hasFreeDots = () => domain !== -1 && ignoresDots(this.#file.providers.nameOf(domain));
    return patternOf(rows.item(row) ?? "", hasFreeDots);
  }

  #addTypo(rows: ObservedRows, row: number, domain: string): void {
    if (domain === "") return;
    if (!this.#suggestedDomains.has(domain)) {
      if (this.#suggestedDomains.size >= mostSuggestions) this.#suggestedDomains.clear();
      this.#suggestedDomains.set(domain, this.#meantDomain(domain));
    }
    const meant = this.#suggestedDomains.get(domain);
    if (meant === undefined) return;
    // Some mailboxes that are mistyped at one provider cannot be at the one that was meant.
    const item = rows.item(row);
    if (item === undefined || this.#explain(item, "fake").suggestion === undefined) return;
    const { typos } = this.#file;
    typos.add(numberOf(typos, rows.hashOf(domain), `${domain} → ${meant}`));
  }

  #meantDomain(domain: string): string | undefined {
    const { kind } = this.options;
    // A mailbox that is valid at every provider: for an invalid one there may be no suggestion.
    const item = kind === "email" ? `first.last@${domain}` : domain;
    const { reason = "", suggestion } = this.#explain(item, "fake");
    return reason.startsWith("typo-domain") && suggestion !== undefined ? domainOf(kind, suggestion) : undefined;
  }

  #explain(item: string, status: string): Partial<Verdict> {
    const verdict = this.options.explain(this.options.kind, item);
    return verdict.status === status ? verdict : {};
  }

  #addMailboxes({ hashes, items, isNew, isItem }: ItemMailboxes): void {
    this.#isItem = isItem;
    const { mailboxes } = this.#file;
    for (let index = 0; index < isNew.length; index++) {
      const low = hashes[2 * index]!;
      const high = hashes[2 * index + 1]!;
      if (isNew[index] === 1 && (low !== items[2 * index] || high !== items[2 * index + 1])) mailboxes.add(low, high);
    }
  }

  /** Counts capitals as small letters, as in the comparison of items. */
  #sameMailbox(): number {
    const { all } = this.#total.mailboxes;
    const { isNew } = new DistinctItems().table.addAll(all, new Uint8Array(all.length / 2).fill(1));
    // If no item is the mailbox itself, the first item that reaches it is not a duplicate.
    const unlisted = isNew.filter((one, index) => {
      return one === 1 && !this.#isItem({ low: all[2 * index]!, high: all[2 * index + 1]! });
    });
    return isNew.length - unlisted.length;
  }
}

type RowKeys = {
  readonly seriesOf: Uint8Array;
  readonly domains: Int32Array;
  readonly months: Int32Array | undefined;
  readonly sources: Int32Array | undefined;
};

function monthCounts({ column, monthOf }: DateColumn): KeyCounts {
  const months = new KeyCounts(column, series.length, (date) => {
    const month = monthOf(date);
    const known = month === undefined ? -1 : months.keys.indexOf(month);
    return known === -1 && month !== undefined ? months.add(month) : known;
  });
  return months;
}

const mayBeTypo = (status: string, reason: string | undefined): boolean =>
  status === "fake" && (reason === undefined || reason === "typo-domain");

function numberOf(counts: TopCounts, hash: ItemHash, name: string): number {
  const number = counts.names.find(hash.low, hash.high);
  return number === -1 ? counts.names.add(hash.low, hash.high, Buffer.from(name)) : number;
}

const hostname = /^[^\s@.]+(?:\.[^\s@.]+)+$/;

function domainOf(kind: Kind, item: string): string {
  const at = item.lastIndexOf("@");
  const domain = item.slice(at + 1).toLowerCase();
  return (kind === "domain" || at > 0) && hostname.test(domain) ? domain : "";
}
