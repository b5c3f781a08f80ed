// What a run has found: plain JSON, for one file or several together. Every summary, report, page and program shows it,
// and counts nothing by itself. Its fields are in facts-schema.ts.

import type { Kind } from "../classifier/verdict.js";
import type { Columns } from "../run/rows/columns.js";
import { mostTopDomains, noRows, type RunReport } from "../run/run-options.js";
import { columnName, type Table } from "../table/table.js";
import { knownStatuses } from "../validator/validator.js";
import type { Counts, Facts, InputFacts } from "./facts-schema.js";
import { gradeOf } from "./grade.js";
import { sumOfGroups } from "./groups.js";

export type { Before, Counts, Facts, InputFacts } from "./facts-schema.js";

/** Changes when a field gets another meaning; fields may be added at any time. */
export const factsVersion = 1;

export function factsOf(kind: Kind, report: RunReport) {
  const { rows, written, emptyRows: empty, emptied, marked, repairable, fixed, kept, notUtf8 } = report;
  const { distinct, cached, prechecked, topDomains, charged, quota } = report;
  const known = knownStatuses.filter((status) => kind === "email" || status !== "alias");
  const statuses = {
    ...Object.fromEntries(known.map((status) => [status, 0])),
    ...Object.fromEntries(report.statuses),
  };
  return {
    ...{ rows, written, empty, emptied, marked, repairable, fixed, kept, notUtf8 },
    ...{ distinct, cached, prechecked, topDomains, statuses },
    distinctStatuses: Object.fromEntries(report.distinctStatuses),
    reasons: Object.fromEntries(report.reasons),
    spared: Object.fromEntries(report.spared),
    grade: gradeOf({ kind, statuses })?.name ?? null,
    units: {
      used: charged,
      paidBefore: 0,
      left: quota?.left ?? null,
      usedByAll: quota?.used ?? null,
      limited: quota === undefined ? null : quota.left !== null,
      renews: quota?.renewsAt == null ? null : new Date(quota.renewsAt).toISOString(),
    },
  } satisfies Partial<Facts>;
}

export const emptyFacts = (kind: Kind, madeBy: string): Facts => ({
  ...{ version: factsVersion, made: new Date().toISOString(), madeBy, kind },
  ...{ dryRun: false, engine: "offline", engineReason: "", dataDays: null, inputs: [], failed: 0, badRows: 0 },
  ...factsOf(kind, noRows),
  ...{ requests: null, dns: null, explained: false, fixes: false, outputs: [], resume: null, next: null, repair: null },
  ...{ seconds: 0, groups: [], breakdown: null, before: null },
});

interface ReadSheet extends NonNullable<InputFacts["sheet"]> {
  emptyFormulas(): InputFacts["emptyFormulas"] | undefined;
  hiddenRows(): number;
}

interface ReadTable {
  readonly table: Table;
  readonly columns: Pick<Columns, "indices">;
  readonly sheet: ReadSheet | undefined;
}

/** Call it at the end of the run. */
export async function inputFactsOf(
  name: string,
  { table, columns: { indices }, sheet }: ReadTable,
  badRowKinds: InputFacts["badRowKinds"],
  report: RunReport,
): Promise<InputFacts> {
  const { delimiter, quote, escape: escaping, skipsSpaces, isUnwrapped = false } = table.dialect;
  return {
    name,
    column: table.column + 1,
    columnName: table.columnName ?? null,
    columns: table.names,
    otherColumns: table.otherColumns.map((column, i) => ({
      name: columnName(table, column),
      statuses: Object.fromEntries(report.otherStatuses[i] ?? []),
    })),
    // The columns of an earlier run, such as `was`, may hold items too.
    passedOver: table.passedOver
      .filter((column) => !indices.includes(column))
      .map((column) => `${column + 1} "${columnName(table, column)}"`),
    dialect: { delimiter, quote, escape: escaping, skipsSpaces, isUnwrapped },
    encoding: (report.notUtf8 > 0 ? await table.surelyIn() : undefined) ?? null,
    linesLeftOut: table.linesLeftOut,
    sheet: sheet === undefined ? null : { name: sheet.name, others: sheet.others },
    emptyFormulas: sheet?.emptyFormulas() ?? null,
    hiddenRows: sheet?.hiddenRows() ?? null,
    otherElements: table.elements?.others() ?? null,
    elsewhere: report.elsewhere ?? null,
    badRowKinds,
    outvoted: report.outvoted,
  };
}

/** Names of files and columns can hold an address: a list without a header may be read as if it had one. */
export const withoutAddresses = (name: string): string => name.replace(/[^\s@/"<>,;]+@[^\s@/"<>,;]+/g, "...");

/** Returns facts for people who do not use the command line, and for storage. */
export function forPages(facts: Facts, shown: (name: string) => string = withoutAddresses): Facts {
  const { breakdown } = facts;
  return {
    ...facts,
    engineReason: "",
    inputs: facts.inputs.map((input) => ({
      ...input,
      name: shown(input.name),
      columnName: input.columnName && shown(input.columnName),
      columns: input.columns.map(shown),
      otherColumns: input.otherColumns.map((column) => ({ ...column, name: shown(column.name) })),
      passedOver: input.passedOver.map(shown),
      sheet: input.sheet && { name: shown(input.sheet.name), others: input.sheet.others.map(shown) },
      elsewhere: input.elsewhere && { ...input.elsewhere, column: shown(input.elsewhere.column) },
    })),
    outputs: facts.outputs.map(({ path, bytes }) => ({ path: shown(path), bytes })),
    groups: facts.groups.map(({ column, values, ...group }) => ({
      ...group,
      column: shown(column),
      values: values.map((value) => ({ ...value, name: shown(value.name) })),
    })),
    breakdown: breakdown && {
      ...breakdown,
      months: breakdown.months && { ...breakdown.months, column: shown(breakdown.months.column) },
      attacks: breakdown.attacks.map(({ source, ...attack }) => ({
        ...attack,
        source: source && { column: shown(source.column), value: shown(source.value) },
      })),
    },
    resume: null,
    next: null,
    repair: null,
  };
}

export const countOf = (counts: Counts, name: string): number => (Object.hasOwn(counts, name) ? counts[name]! : 0);

/** Returns the statuses that rows have, in the order of summaries; the last is that of rows without an item. */
export function rowsByStatus(statuses: Counts, empty = 0): (readonly [status: string, rows: number])[] {
  const order = [...new Set([...knownStatuses, ...Object.keys(statuses)])];
  const rows = order.map((status) => [status, countOf(statuses, status)] as const);
  return [...rows, ["(empty)", empty] as const].filter(([, count]) => count > 0);
}

const summed = [
  ...(["failed", "rows", "written", "empty", "emptied", "badRows", "marked", "repairable"] as const),
  ...(["fixed", "kept", "notUtf8", "distinct", "cached", "prechecked", "seconds"] as const),
] as const;
type Sums = Record<(typeof summed)[number], number>;

/** In the order of the files. The breakdown is not added: it has only the most frequent names. */
export function sumOf(files: readonly [Facts, ...Facts[]]): Facts {
  const last = files.at(-1)!;
  const sum = (numberOf: (facts: Facts) => number) => files.reduce((total, facts) => total + numberOf(facts), 0);
  const added = (countsOf: (facts: Facts) => Counts): Counts => {
    const total = new Map<string, number>();
    for (const [name, count] of files.flatMap((facts) => Object.entries(countsOf(facts))))
      total.set(name, (total.get(name) ?? 0) + count);
    return Object.fromEntries(total);
  };
  const domains = added(({ topDomains }) => Object.fromEntries(topDomains.map(({ domain, items }) => [domain, items])));
  const sums = Object.fromEntries(summed.map((name) => [name, sum((facts) => facts[name])])) as Sums;
  const statuses = added((facts) => facts.statuses);
  const dns = {
    asked: sum(({ dns }) => dns?.asked ?? 0),
    cached: sum(({ dns }) => dns?.cached ?? 0),
    undecided: sum(({ dns }) => dns?.undecided ?? 0),
    causes: added(({ dns }) => dns?.causes ?? {}),
  };
  const charged = files.findLast(({ units }) => units.limited !== null) ?? last;
  return {
    ...last,
    ...sums,
    // Without the noise of binary fractions.
    seconds: Number(sums.seconds.toFixed(3)),
    statuses,
    inputs: files.flatMap(({ inputs }) => inputs),
    distinctStatuses: added(({ distinctStatuses }) => distinctStatuses),
    reasons: added(({ reasons }) => reasons),
    spared: added(({ spared }) => spared),
    grade: gradeOf({ kind: last.kind, statuses })?.name ?? null,
    topDomains: Object.entries(domains)
      .map(([domain, items]) => ({ domain, items }))
      .sort((a, b) => b.items - a.items)
      .slice(0, mostTopDomains),
    units: { ...charged.units, used: sum(({ units }) => units.used), paidBefore: sum(({ units }) => units.paidBefore) },
    requests: last.requests === null ? null : sum(({ requests }) => requests ?? 0),
    dns: files.every(({ dns }) => dns === null) ? null : dns,
    outputs: [...new Map(files.flatMap(({ outputs }) => outputs).map((file) => [file.path, file])).values()],
    resume: null,
    next: null,
    repair: null,
    groups: sumOfGroups(files.filter(({ rows, empty }) => rows > empty).map(({ groups }) => groups)),
    breakdown: null,
    before: null,
  };
}
