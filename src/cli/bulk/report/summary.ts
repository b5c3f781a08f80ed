/** Renders the facts of a run as text, for a file and for several together. */
import { allowList, denyList } from "../../../core/classifier/rules/own-lists.js";
import { countOf, type Facts, type InputFacts, rowsByStatus } from "../../../core/facts/facts.js";
import { badRowsOf, nameOfOthers, shownGroup, shownValue, worstFirst } from "../../../core/facts/groups.js";
import { dialectWords } from "../../../core/table/sniff/dialect.js";
import { undecidedCauses } from "../../../engines/dns/vocabulary.js";
import { elsewhereText, formulasRemark } from "../../../formats/open/no-items.js";
import { counted, grouped, linesText, percent, printable, sizeOf } from "../../../text.js";
import { statusColour, type TerminalStyle } from "../../terminal/bars.js";
import { wrap } from "../../terminal/wrap.js";
import { fakeReasonCounts, statusLines } from "./summary-layout.js";

export function textSummary(facts: Facts, style: TerminalStyle | undefined): string {
  const { inputs, rows, written, fixed, dns, next } = facts;
  const shown = rowsByStatus(facts.statuses, facts.empty);
  if (facts.dryRun) return [dryRunLine(facts), ...inputs.flatMap(tableLines)].join("\n");
  const input = onlyInput(facts);
  const lines = [
    heading(facts),
    ...(style === undefined ? [...statusList(shown, style), ...details(facts)] : statusLines(facts, shown, style)),
    ...(input ? ofInput(facts, input, style) : []),
    ...groupLines(facts),
    ...(dns === null ? [] : [dnsLine(dns)]),
    ...(input ? tableLines(input) : []),
    ...(fixed === 0 ? [] : [`${counted(fixed, "row")} fixed; ${oldValues(inputs)}`]),
    ...(written === rows ? [] : [`${counted(written, "row")} written`]),
    ...outputLines(facts),
    costLine(facts),
    ...(style !== undefined && next !== null ? [`Next: ${printable(next)}`] : []),
  ];
  return (style === undefined ? lines : lines.map((line) => wrapped(line, style.columns))).join("\n");
}

/** Tables are laid out for the width already; a command is copied as a whole. */
const wrapped = (line: string, width: number): string => (/^(?: |Next: )/.test(line) ? line : wrap(line, width));

const statusList = (shown: readonly (readonly [string, number])[], style: TerminalStyle | undefined): string[] =>
  shown.map(([status, count]) => {
    const name = printable(status).padEnd(15);
    return `  ${statusColour(style?.chalk, status)(name)}${grouped(count).padStart(12)}`;
  });

const onlyInput = ({ inputs, failed }: Facts): InputFacts | undefined =>
  failed === 0 && inputs.length === 1 ? inputs[0] : undefined;

function nameOf(facts: Facts): string {
  const { inputs, failed } = facts;
  const input = onlyInput(facts);
  if (input !== undefined) return printable(input.name);
  return `${counted(inputs.length + failed, "file")}${failed === 0 ? "" : `, ${grouped(failed)} failed`}`;
}

function heading(facts: Facts): string {
  const input = onlyInput(facts);
  const engine = `${facts.engine} engine (${printable(facts.engineReason)})`;
  const where = input === undefined ? "" : ` ${columnText(input)}; ${engine}`;
  return `${nameOf(facts)}: ${counted(facts.rows, "row")}, ${distinctText(facts)}${where}`;
}

function distinctText({ kind, distinct, rows, empty }: Facts): string {
  const item = kind === "email" ? "distinct e-mail address" : "distinct domain";
  const items = kind === "email" ? "e-mail addresses" : "domains";
  if (distinct === 0) return `no ${rows > empty ? "new " : ""}${items}`;
  return counted(distinct, item, `distinct ${items}`);
}

const columnText = ({ column, columnName }: InputFacts): string =>
  `in column ${column}${columnName === null ? "" : ` "${printable(columnName)}"`}`;

function dryRunLine(facts: Facts): string {
  const { rows, cached, prechecked, units, requests } = facts;
  const input = onlyInput(facts);
  const sent = requests === null ? "" : `, in ${counted(requests, "request")}`;
  const items = `${distinctText(facts)}${input ? ` ${columnText(input)}` : ""}`;
  // Offline, each item costs a unit.
  const free = requests === null ? "" : `; ${grouped(cached)} in the cache, ${grouped(prechecked)} fake by syntax`;
  const charged = `${counted(units.used, "unit")} would be charged${sent}${willDo(units)}`;
  return `${nameOf(facts)}: ${counted(rows, "row")}, ${items}${free}; ${charged}`;
}

function willDo({ used, left, usedByAll }: Facts["units"]): string {
  if (left === null) return "";
  const before = usedByAll === null ? "" : ` (${grouped(usedByAll)} used)`;
  return `; the quota has ${grouped(left)} left${before}${used <= left ? "" : `, ${grouped(used - left)} too few`}`;
}

/** Empty for tables made of other files, which have no lines. */
const placesOf = (found: Parameters<typeof linesText>[0]): string =>
  found.lines.length === 0 ? "" : ` (${linesText(found)})`;

function tableLines({ dialect, badRowKinds }: InputFacts): string[] {
  const words = dialectWords(dialect);
  const kinds = badRowKinds.map(({ kind, ...found }) => `${grouped(found.count)} ${kind}${placesOf(found)}`);
  const badRows = badRowKinds.reduce((sum, { count }) => sum + count, 0);
  return [
    ...(words.length === 0 ? [] : [`read as a table in which ${words.join(", and ")}`]),
    ...(badRows === 0 ? [] : [`${counted(badRows, "bad row")}: ${kinds.join(", ")}`]),
  ];
}

function costLine({ engine, distinct, cached, prechecked, units, requests, seconds, rows }: Facts): string {
  const noLimit = engine === "api" ? "" : ", no limit";
  const left = units.left !== null ? `, ${grouped(units.left)} left` : units.limited === false ? noLimit : "";
  const sent = requests === null ? "" : ` in ${counted(requests, "request")}`;
  const { used, paidBefore } = units;
  const saved = [
    ...(paidBefore === 0 ? [] : [`${counted(paidBefore, "unit")} paid by another run of this name`]),
    ...(cached === 0 ? [] : [`${grouped(cached)} of ${grouped(distinct)} from the cache`]),
    ...(prechecked === 0 ? [] : [`${grouped(prechecked)} fake by syntax`]),
  ].map((what) => `${what}, `);
  const rate = seconds > 0 ? `, ${grouped(Math.round(rows / seconds))} rows/s` : "";
  return `${saved.join("")}${counted(used, "unit")} used${sent}${left}; ${seconds.toFixed(2)} s${rate}`;
}

function ofInput(facts: Facts, input: InputFacts, style: TerminalStyle | undefined): string[] {
  const listOf = ({ name, statuses }: InputFacts["otherColumns"][number]) => [
    `column "${printable(name)}":`,
    ...statusList(rowsByStatus(statuses), style),
  ];
  return [...input.otherColumns.flatMap(listOf), ...remarks(facts, input)];
}

function details({ topDomains, ...facts }: Facts): string[] {
  const list = (name: string, entries: readonly (readonly [string, number])[]) => {
    const counts = entries.map(([what, count]) => `${grouped(count)} ${printable(what)}`);
    return counts.length === 0 ? [] : [`${name}: ${counts.join(", ")}`];
  };
  const domains = topDomains.slice(0, 5).map(({ domain, items }) => [domain, items] as const);
  return [...list("fake", fakeReasonCounts(facts)), ...list("disposable domains", domains)];
}

function groupLines({ groups }: Facts): string[] {
  const wanted = groups.filter(({ isWanted }) => isWanted);
  return wanted.map(shownGroup).flatMap(({ column, values: all, others }) => {
    const values = [...worstFirst(all), ...(others === null ? [] : [{ ...others, name: nameOfOthers(others) }])];
    const nameWidth = Math.max(...values.map(({ name }) => printable(shownValue(name)).length));
    const rowsWidth = Math.max(...values.map(({ rows }) => grouped(rows).length));
    const lines = values.map((value) => {
      const figures = `${grouped(value.rows).padStart(rowsWidth)} ${value.rows === 1 ? "row, " : "rows,"} ${percent(badRowsOf(value), value.rows)} bad`;
      const statuses = Object.entries(value.statuses).map(
        ([status, count]) => `${grouped(count)} ${printable(status)}`,
      );
      return `  ${printable(shownValue(value.name)).padEnd(nameWidth)}  ${figures}: ${statuses.join(", ")}`;
    });
    return [`by ${printable(column)}:`, ...lines];
  });
}

function outputLines({ outputs, repairable, engine, explained, fixes }: Facts): string[] {
  const names = outputs.map(({ path, bytes }) => `${printable(path)} (${sizeOf(bytes)})`);
  const written = names.length === 0 ? [] : [`written: ${names.join(", ")}`];
  if (repairable === 0 || fixes || (explained && engine !== "offline")) return written;
  const cure =
    engine === "offline"
      ? "can be repaired with --fix"
      : `with a mistyped domain; --explain adds suggestions for ${repairable === 1 ? "it" : "them"}`;
  return [...written, `${counted(repairable, "row")} ${cure}`];
}

/** The table may have a column of that name: its own, or that of an earlier run. */
const oldValues = (inputs: Facts["inputs"]): string =>
  inputs.some(({ columns }) => columns.includes("was"))
    ? "the column was, or idv_was, has the old values"
    : "the column was has the old values";

/** `1,204 domains asked, 300 from the cache; 41 domains undecided: 38 timeouts, 3 SERVFAIL` */
function dnsLine({ asked, cached, undecided, causes }: NonNullable<Facts["dns"]>): string {
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

function elsewhereRemark({ kind }: Facts, elsewhere: NonNullable<InputFacts["elsewhere"]>): string {
  const what = kind === "email" ? "an address" : "a domain";
  const rows = `${counted(elsewhere.rows, "row")} without ${what} ${elsewhere.rows === 1 ? "has" : "have"}`;
  return `${rows} one in ${printable(elsewhereText(elsewhere))}; to validate both columns, name them with -c`;
}

function remarks(facts: Facts, input: InputFacts): string[] {
  const { passedOver, linesLeftOut, emptyFormulas, encoding, elsewhere, outvoted } = input;
  const hiddenRows = input.hiddenRows ?? 0;
  const others = input.otherElements ?? 0;
  const { emptied, kept, marked, notUtf8 } = facts;
  const remark = (count: number, text: string) => (count > 0 ? [text] : []);
  const byOwnList = ({ code, status }: { code: string; status: string }, list: string) => {
    const count = countOf(facts.reasons, code);
    return remark(count, `${counted(count, "row")} ${status} by your ${list} list`);
  };
  return [
    ...remark(passedOver.length, `not validated: ${printable(passedOver.join(", "))}; -c "*" does`),
    ...(elsewhere === null ? [] : [elsewhereRemark(facts, elsewhere)]),
    ...remark(
      linesLeftOut,
      `left out: ${counted(linesLeftOut, "line")} above the table, which the output format cannot hold`,
    ),
    ...(emptyFormulas === null ? [] : [formulasRemark(emptyFormulas)]),
    ...remark(hiddenRows, `${counted(hiddenRows, "row of the sheet is", "rows of the sheet are")} hidden`),
    ...remark(
      others,
      `${counted(others, "element of the document is not a record and has", "elements of the document are not records and have")} no status`,
    ),
    ...remark(
      outvoted.count,
      `${counted(outvoted.count, "row is", "rows are")} left out or bad although another of its items is ok or alias${placesOf(outvoted)}; --set cell=best keeps them`,
    ),
    ...byOwnList(allowList, "allow"),
    ...byOwnList(denyList, "deny"),
    ...remark(
      kept,
      `${counted(kept, "row keeps its", "rows keep their")} status (--update)${facts.fixes || facts.explained ? "; --update=all checks all again" : ""}`,
    ),
    ...remark(
      emptied,
      `${counted(emptied, "field counts", "fields count")} as empty: n/a, a column's name or the like (--set emptyValues)`,
    ),
    ...remark(
      facts.fixes ? 0 : marked,
      `${counted(marked, "value has", "values have")} invisible characters, quotes or the like around an item${facts.engine === "offline" ? "; --fix removes them" : ""}`,
    ),
    ...remark(
      notUtf8,
      `${counted(notUtf8, "row has an item that is", "rows have items that are")} not UTF-8; ` +
        (encoding === null ? "name the encoding with --encoding" : `pass --encoding ${encoding}`),
    ),
  ];
}

/** From this age, the lists miss a fifth of new disposable domains. */
const oldDays = 30;

export const oldDataRemark = ({ dataDays }: Pick<Facts, "dataDays">): string | undefined =>
  dataDays === null || dataDays <= oldDays
    ? undefined
    : `the newest list of disposable domains is ${counted(dataDays, "day")} old; idv data update fetches newer ones`;
