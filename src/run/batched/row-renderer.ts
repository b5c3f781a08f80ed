/** Renders the rows of a batched run when their items have their verdicts. Does not wait, and submits nothing. */
import { hashItem } from "../../classifier/item-hash.js";
import { listedDomain } from "../../classifier/outcomes.js";
import type { RecordChunk } from "../../table/records.js";
import { notChecked, type Status, type Verdict } from "../../validator/validator.js";
import { isGood } from "../cells.js";
import { needsReasons, ourFields } from "../columns.js";
import { DomainCounts } from "../domain-counts.js";
import { itemKey, mailboxKey } from "../item.js";
import type { RowKeys, RowsWithStatus } from "../row-writer.js";
import type { RunOptions } from "../run-options.js";
import { noItemCode, notARowCode, otherShardCode } from "../status-codes.js";
import type { ItemLedger, RowItem } from "./item-ledger.js";

/** The items of a record. */
export interface RowItems {
  /** The code of a record that is not a row of this run. */
  readonly mark?: typeof notARowCode | typeof otherShardCode;
  /** For each wanted column, the added fields of an earlier run if the row keeps them. */
  readonly kept: readonly (readonly string[] | undefined)[];
  /** The items in each wanted column, but for those whose fields are kept. */
  readonly values: readonly (readonly RowItem[])[];
  /** The items in the first column for `--dedupe`, also those of a row that keeps its fields. */
  readonly compared: readonly string[];
}

/** Counts of the values of a chunk. */
export type ValueCounts = Pick<RowsWithStatus, "emptied" | "notUtf8">;

/** Renders the rows of a chunk whose items have their verdicts. */
export class RowRenderer {
  readonly #options: RunOptions;
  readonly #ledger: ItemLedger;
  readonly #hasOnlyStatus: boolean;
  readonly #needsReasons: boolean;
  readonly #fieldsByStatuses = new Map<string, string[]>();
  readonly domains = new DomainCounts();

  constructor(options: RunOptions, ledger: ItemLedger) {
    this.#options = options;
    this.#ledger = ledger;
    this.#hasOnlyStatus = options.columns.details.length === 0;
    this.#needsReasons = needsReasons(options.columns);
  }

  rowsOf(chunk: RecordChunk, rows: readonly RowItems[], counts: ValueCounts): RowsWithStatus {
    this.#countDomains(rows);
    const deciding = rows.map(({ values }) => values.map((items) => this.#ledger.decidingOf(items)));
    const columns = 1 + (chunk.otherValues?.length ?? 0);
    const fieldsPerColumn = this.#options.columns.names.length / columns;
    const codesOf = (column: number) =>
      Uint8Array.from(rows, ({ mark, kept }, row) => {
        if (mark !== undefined) return mark;
        const [keptStatus] = kept[column] ?? [];
        if (keptStatus !== undefined)
          return this.#ledger.codeOfKept(keptStatus, this.#options.update?.input ?? "");
        const item = deciding[row]![column];
        return item === undefined ? noItemCode : this.#ledger.codeOf(item);
      });
    const codes = Array.from({ length: columns }, (_, column) => codesOf(column));
    const copy = (isWanted: (row: number) => boolean) =>
      chunk.append(
        rows.map(({ mark, kept }, row) => {
          if (!isWanted(row) || mark === otherShardCode) return undefined;
          if (mark === notARowCode) return [];
          const fields = this.#fieldsOf(deciding[row]!, codes, row);
          return kept.flatMap(
            (own, column) => own ?? fields.slice(column * fieldsPerColumn, (column + 1) * fieldsPerColumn),
          );
        }),
      );
    const isFirst = ({ values }: RowItems) => Number(values[0]?.some((item) => item.isFirst) ?? false);
    return {
      codes: codes[0]!,
      otherCodes: codes.slice(1),
      ...{ ...counts, kept: rows.filter(isKept).length },
      isFirst: Uint8Array.from(rows, isFirst),
      keys: this.#options.filter?.dedupe && this.#keysOf(rows),
      good: this.#goodRows(rows),
      place: (row) => ({
        line: chunk.lineOf?.(row),
        value: deciding[row]?.[0]?.item ?? chunk.values[row] ?? "",
      }),
      field: (row, column) => chunk.field(row, column),
      all: () => copy(() => true),
      keep: copy,
      copy,
    };
  }

  /**
   * Returns the added fields of a row. If only statuses are added, all rows with the same ones share a list.
   *
   * @param items the item that decides the status of each column
   */
  #fieldsOf(items: readonly (RowItem | undefined)[], codes: readonly Uint8Array[], row: number): string[] {
    const { kind, columns } = this.#options;
    const statuses = codes.map((column) => this.#ledger.statuses[column[row]!]!);
    if (!this.#hasOnlyStatus) {
      return statuses.flatMap((status, column) => {
        const item = status === notChecked.status ? undefined : items[column]?.item;
        const explained =
          this.#needsReasons && item !== undefined ? this.#verdictWithReason(item, status) : undefined;
        const verdict = explained?.status === status ? explained : { status };
        return ourFields(columns, verdict, kind, item);
      });
    }
    const key = statuses.join("\n");
    let fields = this.#fieldsByStatuses.get(key);
    if (fields === undefined) {
      fields = statuses.flatMap((status) => ourFields(columns, { status }, kind));
      this.#fieldsByStatuses.set(key, fields);
    }
    return fields;
  }

  #verdictWithReason(item: string, status: Status): Verdict | undefined {
    const { kind, validator, mailCheck } = this.#options;
    const verdict = validator.explain
      ? validator.explain(kind, item)
      : (validator.precheck?.(kind, item) ?? this.#offlineVerdict(item, status));
    if (mailCheck === undefined) return verdict;
    // DNS replaces only statuses that passed. If this one came from DNS, its reason is given; else the MX host is added.
    const before = verdict?.status ?? "ok";
    const byDns = isGood(before) ? mailCheck.verdictOn(kind, item, before) : undefined;
    if (byDns?.status !== status || byDns.status === before) {
      return { ...verdict, status, ...(byDns?.mx !== undefined && { mx: byDns.mx }) };
    }
    return byDns;
  }

  /** Returns why the offline rules would give an item its status, marked as theirs: the service may have other reasons. */
  #offlineVerdict(item: string, status: Status): Verdict | undefined {
    const { kind, offlineRules } = this.#options;
    const { reason, suggestion, ...rest } = offlineRules?.(kind, item) ?? { status: "" };
    if (rest.status !== status || reason === undefined) return undefined;
    return { status, reason: `offline: ${reason}`, ...(suggestion !== undefined && { suggestion }) };
  }

  /** Counts the items at disposable domains, by the listed domain if the engine names it, else by the item's own. */
  #countDomains(rows: readonly RowItems[]): void {
    const { kind, validator } = this.#options;
    for (const rowItem of rows.flatMap(({ values }) => values[0] ?? [])) {
      const { item } = rowItem;
      const code = this.#ledger.codeOf(rowItem);
      if (this.#ledger.statuses[code] !== "disposable") continue;
      const reason = this.#ledger.reasons[code];
      if (reason !== undefined && reason !== "disposable-domain") continue;
      const listed = listedDomain(validator.explain?.(kind, item).reason);
      this.domains.add(listed ?? item.slice(item.lastIndexOf("@") + 1).toLowerCase());
    }
  }

  /** Returns 1 for each row of which an item, or a kept status, is good; undefined if each row has one at most. */
  #goodRows(rows: readonly RowItems[]): Uint8Array | undefined {
    const isSeveral = ({ kept, values }: RowItems) =>
      kept.length > 1 || values.length > 1 || (values[0]?.length ?? 0) > 1;
    if (!rows.some(isSeveral)) return undefined;
    return Uint8Array.from(rows, ({ kept, values }) =>
      Number(
        kept.some((fields) => isGood(fields?.[0])) ||
          values.some((items) => items.some((item) => isGood(this.#ledger.statusOf(item)))),
      ),
    );
  }

  /** Returns the hashes of the items or mailboxes that `--dedupe` compares. */
  #keysOf(rows: readonly RowItems[]): RowKeys {
    const { kind, filter } = this.#options;
    const keyOf = (item: string) => (filter?.dedupe === "canonical" ? mailboxKey(kind, item) : itemKey(item));
    const all = rows.flatMap(({ compared }, row) => compared.map((item) => ({ row, key: keyOf(item) })));
    const hashes = new Int32Array(2 * all.length);
    for (const [place, { key }] of all.entries()) {
      const { low, high } = hashItem(this.#ledger.keySeed, key);
      hashes[2 * place] = low;
      hashes[2 * place + 1] = high;
    }
    // Any code that is not that of a row without an item.
    const codes = new Uint8Array(all.length).fill(1);
    return { hashes, codes, rows: Int32Array.from(all, ({ row }) => row) };
  }
}

/** Returns whether a row keeps the statuses of an earlier run, and has no other items. */
const isKept = ({ mark, kept, values }: RowItems): boolean =>
  mark === undefined && kept.some((own) => own !== undefined) && values.every((items) => items.length === 0);
