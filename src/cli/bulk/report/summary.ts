/** Renders the summary of a run, as text and as JSON. */
import { allowList, denyList } from "../../../classifier/rules/own-lists.js";
import type { MailStatistics } from "../../../dns/mail-domains.js";
import { undecidedCauses } from "../../../dns/vocabulary.js";
import { elsewhereText, formulasRemark } from "../../../run/open/no-items.js";
import type { RunReport } from "../../../run/run-options.js";
import type { Dialect } from "../../../table/dialect.js";
import { dialectWords } from "../../../table/sniff/dialect.js";
import { counted, grouped, linesText, printable, printableJson, sizeOf } from "../../../text.js";
import { knownStatuses } from "../../../validator/validator.js";
import { statusColour, type TerminalStyle } from "../../terminal/bars.js";
import { kindsText } from "./bad-rows.js";
import type { DryRun, Summary } from "./result.js";
import { fakeReasonCounts, statusLines } from "./summary-layout.js";

export function dryRunSummary({ input, dryRun, ...table }: DryRun, format: "text" | "json"): string {
  const { rows, distinct, cached, prechecked, items, requests } = dryRun;
  if (format === "json") {
    return printableJson({
      type: "summary",
      dryRun: true,
      input,
      rows,
      distinct,
      cached,
      prechecked,
      units: items,
      requests: requests ?? null,
      ...table,
      columnName: table.columnName ?? null,
      delimiter: table.dialect.delimiter,
      dialect: marksOf(table.dialect),
    });
  }
  const sent = requests === undefined ? "" : `, in ${counted(requests, "request")}`;
  return [
    `${printable(input)}: ${counted(rows, "row")}, ${counted(distinct, "distinct item")} ${columnText(table)}; ` +
      `${grouped(cached)} in the cache, ${grouped(prechecked)} fake by syntax; ` +
      `${counted(items, "unit")} would be charged${sent}`,
    ...tableLines(table),
  ].join("\n");
}

const columnText = ({ column, columnName }: Pick<Summary, "column" | "columnName">): string =>
  `in column ${column}${columnName === undefined ? "" : ` "${printable(columnName)}"`}`;

function tableLines({
  dialect,
  badRows,
  badRowKinds,
}: Pick<Summary, "dialect" | "badRows" | "badRowKinds">): string[] {
  const words = dialectWords(dialect);
  return [
    ...(words.length === 0 ? [] : [`read as a table in which ${words.join(", and ")}`]),
    ...(badRows === 0 ? [] : [`${counted(badRows, "bad row")}: ${kindsText(badRowKinds)}`]),
  ];
}

const marksOf = ({ delimiter, quote, escape: escaping, skipsSpaces }: Dialect) => ({
  delimiter,
  quote,
  escape: escaping,
  skipsSpaces,
});

/** Renders the summary as a JSON object with stable fields. */
export function jsonSummary({
  report,
  dns,
  isExplained: _,
  isFixed: ____,
  next: __,
  encoding: ___,
  paidBefore,
  ...rest
}: Summary): string {
  const { rows, written, emptyRows, distinct, cached, prechecked, statuses, charged, quota } = report;
  return printableJson({
    type: "summary",
    ...rest,
    dialect: marksOf(rest.dialect),
    columnName: rest.columnName ?? null,
    otherColumns: rest.otherColumns.map((name, i) => ({
      name,
      statuses: Object.fromEntries(report.otherStatuses[i] ?? []),
    })),
    requests: rest.requests ?? null,
    dns:
      dns === undefined
        ? null
        : { asked: dns.asked, cached: dns.cached, undecided: dns.undecided, causes: dns.causes },
    rows,
    written,
    empty: emptyRows,
    emptied: report.emptied,
    marked: report.marked,
    repairable: report.repairable,
    elsewhere: report.elsewhere ?? null,
    notUtf8: report.notUtf8,
    kept: report.kept,
    outvoted: report.outvoted,
    distinct,
    distinctStatuses: Object.fromEntries(report.distinctStatuses),
    cached,
    prechecked,
    statuses: Object.fromEntries([
      ...knownStatuses.filter((s) => rest.kind === "email" || s !== "alias").map((s) => [s, 0]),
      ...statuses,
    ]),
    reasons: Object.fromEntries(report.reasons),
    topDomains: report.topDomains,
    units: {
      used: charged - paidBefore,
      paidBefore,
      left: quota?.left ?? null,
      renews: quota?.renewsAt == null ? null : new Date(quota.renewsAt).toISOString(),
    },
  });
}

export function textSummary(summary: Summary, style: TerminalStyle | undefined): string {
  const { report, seconds } = summary;
  const { quota } = report;
  const item = summary.kind === "email" ? "distinct e-mail address" : "distinct domain";
  const order = [...new Set([...knownStatuses, ...report.statuses.keys()])];
  const counts = order.flatMap((status) => {
    const count = report.statuses.get(status);
    return count === undefined ? [] : [[status, count] as const];
  });
  if (report.emptyRows > 0) counts.push(["(empty)", report.emptyRows]);
  const noLimit = summary.engine === "api" ? "" : ", no limit";
  const left = quota === undefined ? "" : quota.left === null ? noLimit : `, ${grouped(quota.left)} left`;
  const requests = summary.requests === undefined ? "" : ` in ${counted(summary.requests, "request")}`;
  const { distinct, cached, prechecked } = report;
  const { paidBefore } = summary;
  const saved = [
    ...(paidBefore === 0 ? [] : [`${counted(paidBefore, "unit")} paid by another run of this name`]),
    ...(cached === 0 ? [] : [`${grouped(cached)} of ${grouped(distinct)} from the cache`]),
    ...(prechecked === 0 ? [] : [`${grouped(prechecked)} fake by syntax`]),
  ].map((what) => `${what}, `);
  const lines = (counted: readonly (readonly [string, number])[]) =>
    counted.map(([status, count]) => {
      const name = printable(status).padEnd(15);
      return `  ${statusColour(style?.chalk, status)(name)}${grouped(count).padStart(12)}`;
    });
  const rate = seconds > 0 ? `, ${grouped(Math.round(report.rows / seconds))} rows/s` : "";
  return [
    `${printable(summary.input)}: ${counted(report.rows, "row")}, ` +
      `${counted(distinct, item, summary.kind === "email" ? `${item}es` : `${item}s`)} ` +
      `${columnText(summary)}; ${summary.engine} engine (${printable(summary.engineReason)})`,
    ...(style === undefined ? [...lines(counts), ...details(summary)] : statusLines(summary, counts, style)),
    ...summary.otherColumns.flatMap((name, i) => [
      `column "${printable(name)}":`,
      ...lines([...(report.otherStatuses[i] ?? [])]),
    ]),
    ...remarks(summary),
    ...(summary.dns === undefined ? [] : [dnsLine(summary.dns)]),
    ...tableLines(summary),
    ...fixed(report),
    ...(report.written === report.rows ? [] : [`${counted(report.written, "row")} written`]),
    ...written(summary),
    `${saved.join("")}${counted(report.charged, "unit")} used${requests}${left}; ${seconds.toFixed(2)} s${rate}`,
    ...(style !== undefined && summary.next !== undefined ? [`Next: ${printable(summary.next)}`] : []),
    ...(summary.oldData === undefined ? [] : [summary.oldData]),
  ].join("\n");
}

function details({ report }: Summary): string[] {
  const list = (name: string, entries: readonly (readonly [string, number])[]) =>
    entries.length === 0
      ? []
      : [`${name}: ${entries.map(([what, count]) => `${grouped(count)} ${printable(what)}`).join(", ")}`];
  const domains = report.topDomains.slice(0, 5).map(({ domain, items }) => [domain, items] as const);
  return [...list("fake", fakeReasonCounts(report.reasons)), ...list("disposable domains", domains)];
}

function fixed({ fixed }: RunReport): string[] {
  return fixed === 0 ? [] : [`${counted(fixed, "row")} fixed; the column was has the old values`];
}

function written({ files, report, engine, isExplained, isFixed }: Summary): string[] {
  const { repairable } = report;
  const names = files.map(({ path, bytes }) => `${printable(path)} (${sizeOf(bytes)})`);
  return [
    ...(names.length === 0 ? [] : [`written: ${names.join(", ")}`]),
    ...(repairable === 0 || isFixed || (isExplained && engine !== "offline")
      ? []
      : [
          `${counted(repairable, "row")} with a mistyped domain; ${engine === "offline" ? "--fix repairs" : "--explain adds suggestions for"} ${repairable === 1 ? "it" : "them"}`,
        ]),
  ];
}

/** Example: `1,204 domains asked, 300 from the cache; 41 domains undecided: 38 timeouts, 3 SERVFAIL`. */
function dnsLine({ asked, cached, undecided, causes }: MailStatistics): string {
  const old = cached === 0 ? "" : `, ${grouped(cached)} from the cache`;
  const reasons = undecidedCauses.flatMap((cause) => {
    const count = causes[cause] ?? 0;
    const isNoun = ["timeout", "invalid answer", "lame delegation"].includes(cause);
    const what = cause === "no connection" ? "without a connection" : cause;
    return count === 0 ? [] : [isNoun ? counted(count, cause) : `${grouped(count)} ${what}`];
  });
  const open = undecided === 0 ? "" : `; ${counted(undecided, "domain")} undecided: ${reasons.join(", ")}`;
  return `DNS: ${counted(asked, "domain")} asked${old}${open}`;
}

export function mailCounts(after: MailStatistics, before: MailStatistics): MailStatistics {
  const causes = undecidedCauses.flatMap((cause) => {
    const count = (after.causes[cause] ?? 0) - (before.causes[cause] ?? 0);
    return count === 0 ? [] : [[cause, count] as const];
  });
  return {
    asked: after.asked - before.asked,
    cached: after.cached - before.cached,
    undecided: after.undecided - before.undecided,
    causes: Object.fromEntries(causes),
  };
}

function remarks(summary: Summary): string[] {
  const { report, passedOver, linesLeftOut, emptyFormulas, encoding } = summary;
  const hiddenRows = summary.hiddenRows ?? 0;
  const others = summary.otherElements ?? 0;
  const { emptied, kept, marked, notUtf8, outvoted } = report;
  const remark = (count: number, text: string) => (count > 0 ? [text] : []);
  return [
    ...remark(passedOver.length, `not validated: ${printable(passedOver.join(", "))}; -c "*" does`),
    ...(report.elsewhere === undefined
      ? []
      : [
          `${counted(report.elsewhere.rows, "row", "rows")} without ${summary.kind === "email" ? "an address" : "a domain"} ${report.elsewhere.rows === 1 ? "has" : "have"} one in ${printable(elsewhereText(report.elsewhere))}; to validate both columns, name them with -c`,
        ]),
    ...remark(
      linesLeftOut,
      `left out: ${counted(linesLeftOut, "line")} above the table, for which the format of the output has no place`,
    ),
    ...(emptyFormulas === null ? [] : [formulasRemark(emptyFormulas)]),
    ...remark(hiddenRows, `${counted(hiddenRows, "row of the sheet is", "rows of the sheet are")} hidden`),
    ...remark(
      others,
      `${counted(others, "element of the document is no record and has", "elements of the document are no records and have")} no status`,
    ),
    ...remark(
      outvoted.count,
      `${counted(outvoted.count, "row is", "rows are")} left out or bad for one item though another is ok or alias (${linesText(outvoted)}); --set cell=best keeps them`,
    ),
    ...[
      { ...allowList, list: "allow" },
      { ...denyList, list: "deny" },
    ].flatMap(({ code, status, list }) => {
      const count = report.reasons.get(code) ?? 0;
      return remark(count, `${counted(count, "row")} ${status} by your ${list} list`);
    }),
    ...remark(kept, `${counted(kept, "row keeps its", "rows keep their")} status (--update)`),
    ...remark(
      emptied,
      `${counted(emptied, "field counts", "fields count")} as empty: n/a, a column's name or the like (--set emptyValues)`,
    ),
    ...remark(
      summary.isFixed ? 0 : marked,
      `${counted(marked, "value has", "values have")} invisible characters, quotes or the like around an item${summary.engine === "offline" ? "; --fix removes them" : ""}`,
    ),
    ...remark(
      notUtf8,
      `${counted(notUtf8, "row has an item that is", "rows have items that are")} not UTF-8; ` +
        (encoding === undefined ? "name the encoding with --encoding" : `pass --encoding ${encoding}`),
    ),
  ];
}
