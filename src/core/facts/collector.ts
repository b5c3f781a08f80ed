/** Counts what the report shows besides the summary. Stores domains, but addresses only if asked to. */
import { ignoresDots } from "../classifier/canonical.js";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import { domainLengthMask, domainWords } from "../kernel/layout.js";
import { DistinctItems } from "../run/distinct-items.js";
import type { ItemMailboxes, ObservedRows, RowObserver } from "../run/run-options.js";
import { hasItem } from "../run/status-codes.js";
import { type Kind, knownStatuses, type Verdict } from "../validator/validator.js";
import { PatternCounts, Places, patternOf } from "./attacks.js";
import type { Breakdown, Group } from "./facts-schema.js";
import { type GroupColumn, GroupCounts, isBad } from "./groups.js";
import { ByHash, Hashes } from "./hashed-names.js";
import type { DateColumn } from "./months.js";
import { TopCounts } from "./top-counts.js";

export const series: readonly string[] = [...knownStatuses, "other"];
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
    for (const [month, counts] of months) {
      const own = this.countsOf(month);
      for (const [index, count] of counts.entries()) own[index]! += count;
    }
    for (const name of dateColumns) this.dateColumns.add(name);
    this.mailboxes.addAll(mailboxes.all);
    this.rows.push(...rows.slice(0, mostAddresses - this.rows.length));
  }

  countFlag(flag: string, rows: number): void {
    this.flags.set(flag, (this.flags.get(flag) ?? 0) + rows);
  }

  countsOf(month: string): number[] {
    const counts = this.months.get(month) ?? series.map(() => 0);
    this.months.set(month, counts);
    return counts;
  }
}

export class Collector {
  #total = new Counts();
  /** Counts of the current file, which are dropped if its run fails. */
  #file = new Counts();
  #groups: readonly GroupCounts[] = [];
  #isFirst = true;
  readonly #suggestedDomains = new Map<string, string | undefined>();
  #isItem: ItemMailboxes["isItem"] = () => false;
  /** For each date, the counts of its month, which all dates of that month share. */
  #countsByDate = new ByHash<number[] | undefined>();
  #patterns = new PatternCounts();

  constructor(private readonly options: CollectorOptions) {}

  observerOf(file: string, dates: DateColumn | undefined, groups: readonly GroupColumn[] = []): RowObserver {
    this.#file = new Counts();
    this.#groups = groups.map((group) => new GroupCounts(group, series));
    this.#countsByDate = new ByHash();
    this.#patterns = new PatternCounts();
    if (dates !== undefined) this.#file.dateColumns.add(dates.name);
    return {
      wants: {
        mailboxes: this.options.kind === "email",
        columns: [...(dates ? [dates] : []), ...groups].map(({ column }) => column),
      },
      observe: (rows) => this.#observe(file, dates, rows),
    };
  }

  groups(): readonly Group[] {
    return this.#groups.flatMap((counts) => counts.group() ?? []);
  }

  keepFile(): void {
    this.#patterns.addTo(this.#file.places, this.#file.months, this.#groups[0]);
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

  #observe(file: string, dates: DateColumn | undefined, rows: ObservedRows): void {
    const { withAddresses, withFlags } = this.options;
    const { codes, statuses, reasons, mailboxes } = rows;
    if (mailboxes) this.#addMailboxes(mailboxes);
    const seriesOf = statuses.map((status) => {
      const known = series.indexOf(status);
      return known === -1 ? series.length - 1 : known;
    });
    const domains = this.#countDomains(rows, seriesOf);
    const isPlaced = this.options.kind === "email" && (dates !== undefined || this.#groups.length > 0);
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row]!;
      if (!hasItem(code)) continue;
      if (withFlags) for (const flag of rows.flagsOf(row)) this.#file.countFlag(flag, 1);
      const status = statuses[code]!;
      const reason = reasons[code];
      if (mayBeTypo(status, reason)) this.#addTypo(rows, row, this.#domainText(rows, row, domains[row]!));
      const month = dates && this.#monthCounts(dates, rows, row);
      if (month !== undefined) month[seriesOf[code]!]!++;
      const source = this.#countGroups(rows, row, seriesOf[code]!, dates ? 1 : 0);
      if (isPlaced) this.#patterns.count(month, source, () => this.#patternOf(rows, row, domains[row]!));
      if (withAddresses && isBad(status)) this.#show(file, rows, row, status);
    }
    this.#file.providers.trim();
    this.#file.typos.trim();
  }

  #countDomains(rows: ObservedRows, seriesOf: readonly number[]): Int32Array {
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
        if (number !== -1) providers.add(number, seriesOf[code]);
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
    return domainOf(this.options.kind, rows.locate(row).item ?? "");
  }

  #show(file: string, rows: ObservedRows, row: number, status: string): void {
    if (this.#file.rows.length >= mostAddresses) return;
    const { line = null, item = "" } = rows.locate(row);
    const { reason = null, suggestion = null } = this.#explain(item, status);
    this.#file.rows.push({ file, line, item, status, reason, suggestion });
  }

  // `before` is the number of columns whose fields are before those of the groups. Returns the counts of the value in
  // the first group.
  #countGroups(rows: ObservedRows, row: number, status: number, before: number): readonly number[] | undefined {
    let first: readonly number[] | undefined;
    // Not `entries()`, which makes an array for each row.
    for (let nth = 0; nth < this.#groups.length; nth++) {
      const group = this.#groups[nth]!;
      const hashes = rows.facts?.fields[before + nth];
      if (group.isGivenUp) continue;
      const low = hashes?.[2 * row] ?? 0;
      const high = hashes?.[2 * row + 1] ?? 0;
      const counts = group.find(low, high) ?? group.add(low, high, rows.field(row, group.column));
      if (counts !== undefined) counts[status]!++;
      if (nth === 0) first = counts;
    }
    return first;
  }

  #patternOf(rows: ObservedRows, row: number, domain: number): number {
    const hasFreeDots = domain !== -1 && ignoresDots(this.#file.providers.nameOf(domain));
    return patternOf(rows.locate(row).item ?? "", hasFreeDots);
  }

  #monthCounts({ column, monthOf }: DateColumn, rows: ObservedRows, row: number): number[] | undefined {
    // The hash is zero if the field is empty, or the threads have not read the record.
    const hashes = rows.facts?.fields[0];
    return this.#countsByDate.of(hashes?.[2 * row] ?? 0, hashes?.[2 * row + 1] ?? 0, () => {
      const month = monthOf(rows.field(row, column));
      return month === undefined ? undefined : this.#file.countsOf(month);
    });
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
    const { item } = rows.locate(row);
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
