/**
 * Predicts a bulk run in the plainest way: all rows at once, as strings. Only the verdicts and the canonical items come from the
 * classifier; tables, filters, duplicates, shards, quotas and files are done here once more.
 */
import { canonicalItem } from "../../src/core/classifier/canonical.js";
import { flagsOf } from "../../src/core/classifier/flags/flags.js";
import { type BulkCase, type Field, type Line, type List, lineOf, rawField, textOf } from "./bulk-cases.js";
import { classifier } from "./classifier.js";

/** Everything that a user sees of a run. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  /** The files in the working folder afterwards, by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** The summaries: one for each list that did not fail. */
  readonly summaries: readonly Readonly<Record<string, unknown>>[];
  /** Whether a file beside the output is as the run wrote it, or as it was. */
  readonly side: "new" | "as before" | undefined;
  readonly used: number;
}

/** Ends the run over a list, which then costs nothing, after its distinct items were counted. */
class Failure extends Error {
  constructor(
    readonly code: number,
    readonly distinct = 0,
  ) {
    super(`exit code ${code}`);
  }
}

interface Verdict {
  readonly status: string;
  readonly reason?: string | undefined;
  readonly suggestion?: string | undefined;
}

/** A row of the run: its line, and what is added to it. */
interface Row {
  readonly line: Line;
  /** Whether it is copied, and has no status. */
  readonly isCopied: boolean;
  /** The items in each wanted column. */
  readonly items: readonly (readonly string[])[];
  /** The fields of an earlier run that it keeps, for each wanted column. */
  readonly kept: readonly (readonly string[] | undefined)[];
}

/** An item in its place, once it is judged, and replaced if that is wanted. */
interface Judged {
  readonly item: string;
  readonly verdict: Verdict;
  readonly isReplaced: boolean;
  /** How it is written, and what is written in its place. */
  readonly written: string;
  readonly by: string;
}

const unchecked: Verdict = { status: "quota_exceeded" };
/** Known statuses by their rank. */
const ranks = ["", "ok", "alias", "disposable", "fake", "quota_exceeded"];
const byteOrderMark = "\ufeff";
/** Tables with other line breaks, and with or without a byte order mark, go into one file of `--split`. */
const plainStart = (start: string) => start.replace(byteOrderMark, "").replace(/\r\n?/g, "\n");
const delimiters = { csv: ",", tsv: "\t", jsonl: undefined } as const;

export function predict({ lists, options, limit }: BulkCase): Outcome {
  const { kind, output, columns, update, shard, badRows } = options;
  const files: Record<string, string> = {};
  for (const list of lists) if (!list.isMissing) files[list.name] = textOf(list);
  const before = { ...files };
  // Somebody's file under the name of one beside the output ends the run before it begins.
  if (options.side?.before === "a table")
    return { code: 2, stdout: "", files, summaries: [], used: 0, side: "as before" };
  let stdout = "";
  let used = 0;
  const codes: number[] = [];
  const summaries: Record<string, unknown>[] = [];
  /** Verdicts on the distinct items, and the items or mailboxes that were written. */
  let verdicts = new Map<string, Verdict>();
  const written = new Set<string>();
  /** What the files of `--split` start with. */
  const starts = new Map<string, string>();
  const totals = { files: 0, failed: 0, rows: 0, distinct: 0 };

  const isFirstShard = shard === undefined || shard.index === 1;
  const isUnreadable = (list: List) =>
    list.isMissing ||
    columns.some((column) => isNamedOtherwise(list, column)) ||
    list.lines.some(({ type }) => type === "header") ||
    isRunAgain(list);
  const failureOf = (list: List) => (list.isMissing ? 6 : 2);
  const isBroken = (list: List, { type, fields }: Line) => {
    if (type !== "row") return type === "broken";
    if (list.delimiter === undefined) return false;
    const surplus = fields.slice(list.names.length);
    const isShort = fields.length < list.names.length;
    return surplus.some((field) => field!.text !== "") || (isShort && options.ragged === "error");
  };
  /** Whether the first part of a list is read, and its bad rows found, when it is opened. */
  const isReadAtOnce = (list: List) => list.delimiter !== undefined;

  /** Judges the items of a row in each column, and replaces those that are mistyped or have marks in them. */
  function judged({ line, items, kept }: Row): readonly (readonly Judged[])[] {
    return items.map((found, i) =>
      found.map((item, nth) => {
        const verdict = verdicts.get(item.toLowerCase())!;
        const written = line.fields[columns[i]!]?.written?.[nth] ?? item;
        const stays = { item, verdict, isReplaced: false, written, by: written };
        if (options.fix === undefined || kept[i] || verdict === unchecked) return stays;
        const { status, reason = "", suggestion } = classifier.classify(kind, item);
        const isMistyped = suggestion !== undefined && (options.fix === "all" || reason.startsWith("typo-domain"));
        if (!isMistyped && written === item) return stays;
        const by = isMistyped ? suggestion : item;
        // Without its marks, an item that is fake is as fake as before.
        const after =
          isMistyped || status !== "fake" ? { status: classifier.classify(kind, by).status, reason: "fixed" } : verdict;
        return { item: by, verdict: after, isReplaced: true, written, by };
      }),
    );
  }

  /** The line of a row with the new items. */
  function fixedLine(list: List, { line }: Row, found: readonly (readonly Judged[])[]): Line {
    const fields = [...line.fields];
    for (const [i, column] of columns.entries()) {
      const field = fields[column];
      if (!field || !found[i]!.some(({ isReplaced }) => isReplaced)) continue;
      let [text, from] = ["", 0];
      for (const { written, by } of found[i]!) {
        const at = field.text.indexOf(written, from);
        text += field.text.slice(from, at) + by;
        from = at + written.length;
      }
      text += field.text.slice(from);
      const quoted = `"${text.replaceAll('"', '""')}"`;
      const written = list.delimiter && (field.raw.startsWith('"') ? quoted : rawField(text, list.delimiter));
      fields[column] = { ...field, text, raw: written ?? JSON.stringify(text) };
    }
    return { ...line, fields };
  }

  /** Runs over one list. */
  function run(list: List): { summary: Record<string, unknown>; code: number } {
    if (isUnreadable(list)) throw new Failure(failureOf(list));
    const shape = shapeOf(list);
    const { added, places } = addedColumns(list);
    const each = added.length / columns.length;
    const isUpdate = places.some((place) => place !== undefined);
    const isFilled = (place: number | undefined) =>
      place === undefined || list.lines.some(({ fields }) => (fields[place]?.text ?? "") !== "");
    const isSure = places.every((place, i) => i % each !== 0 || isFilled(place));

    const bad = list.lines.filter((line) => isBroken(list, line));
    const isRefused = bad.length > 0 && badRows === "error";
    const isUntold = update !== undefined && !list.hasHeader && list.delimiter !== undefined;
    if (isUntold) throw new Failure(isRefused && isReadAtOnce(list) ? 6 : 2);
    const start = startOf(list, added, places);
    // The start of a table is read with its header, other rows while others are written.
    const isEarly = !options.failsOnEmpty && !(isRefused && isReadAtOnce(list));
    if (output === "stdout" && isEarly) stdout += start;
    if (isRefused) throw new Failure(6);
    const rows: Row[] = [];
    let emptied = 0;
    for (const line of list.lines) {
      const isBad = isBroken(list, line);
      if (isBad && badRows === "skip") continue;
      if (isBad || line.type === "other") {
        const isDropped = !isBad && shape.isReshaped;
        if (isFirstShard && !isDropped) rows.push({ line, isCopied: true, items: [], kept: [] });
        continue;
      }
      const fieldAt = (column: number): Field => line.fields[column] ?? { text: "", raw: "" };
      const kept = columns.map((_, i) => {
        const own = isUpdate
          ? places.slice(i * each, (i + 1) * each).map((place) => (place === undefined ? "" : fieldAt(place).text))
          : [""];
        const [status = ""] = own;
        if (!ranks.includes(status) && !(update === "rest" && isSure)) throw new Failure(6);
        return update === "rest" && status !== "" && status !== unchecked.status ? own : undefined;
      });
      const items = columns.map((column) => {
        const found = fieldAt(column).items ?? [];
        return options.takesFirst ? found.slice(0, 1) : found;
      });
      const first = items[0]![0];
      if (shard && items[0]!.length > 1) throw new Failure(6);
      if (!(shard && first !== undefined ? shardOf(first, shard.count) === shard.index : isFirstShard)) continue;
      rows.push({ line, isCopied: false, items, kept });
      const isEmptied = (column: number, i: number) => !items[i]!.length && fieldAt(column).text.trim() !== "";
      emptied += columns.filter((column, i) => !kept[i] && isEmptied(column, i)).length;
    }

    // Charge the distinct items, in the order of the table.
    const usedBefore = used;
    let distinct = 0;
    for (const { items, kept } of rows) {
      for (const item of items.flatMap((found, i) => (kept[i] ? [] : found))) {
        const key = item.toLowerCase();
        if (verdicts.has(key)) continue;
        distinct++;
        const isGranted = limit === null || used < limit;
        verdicts.set(key, isGranted ? classifier.classify(kind, item) : unchecked);
        if (isGranted) used++;
      }
    }

    const counts = columns.map(() => new Map<string, number>());
    const spared = new Map<string, number>();
    let outvoted = 0;
    const parts = new Map<string, string>();
    let [keptRows, emptyRows, count, writtenRows] = [0, 0, 0, 0];
    let body = "";
    const wasPlace = options.fix === undefined ? undefined : 1 + (options.isExplained ? 2 : 0);
    for (const row of rows) {
      if (row.isCopied) {
        body += ended(list, copied(list, row.line, places));
        continue;
      }
      count++;
      const found = judged(row);
      const line = fixedLine(list, row, found);
      const fields = columns.map((_, i) => {
        const own = row.kept[i] ?? addedFields(found[i]!);
        const earlier = wasPlace === undefined ? undefined : places[i * each + wasPlace];
        // What an earlier run has replaced stays in its column, which has the only copy.
        if (row.kept[i] || earlier === undefined || own[wasPlace!] !== "") return own;
        return own.with(wasPlace!, row.line.fields[earlier]?.text ?? "");
      });
      const hasKept = row.kept.some((own) => own);
      if (hasKept && row.items.every((found, i) => row.kept[i] || found.length === 0)) keptRows++;
      for (const [i, [status = ""]] of fields.entries()) {
        if (status !== "") counts[i]!.set(status, (counts[i]!.get(status) ?? 0) + 1);
      }
      const [status = ""] = fields[0]!;
      if (status === "") emptyRows++;
      const all = found.flatMap((each, i) => row.kept[i]?.slice(0, 1) ?? each.map(({ verdict }) => verdict.status));
      const isGood = (name: string) => name === "ok" || name === "alias";
      const isOther = status !== "" && !isGood(status) && all.some(isGood);
      const failOn = options.failOn ?? [];
      const isFailing = isOther && failOn.includes(status) && !failOn.includes("ok");
      const isLeftOut = isOther && !isChosen(status) && isChosen("ok");
      const isBest = options.takesBest && !options.takesFirst;
      if (isBest && isFailing) spared.set(status, (spared.get(status) ?? 0) + 1);
      if (!isBest && (isFailing || isLeftOut)) outvoted++;
      if (!isChosen(status) && !(isBest && isLeftOut)) continue;
      if (options.dedupe && row.items[0]!.length > 0) {
        const keys = found[0]!.map(({ item }) => dedupeKey(item));
        const isNew = keys.some((key) => !written.has(key));
        for (const key of keys) written.add(key);
        if (!isNew) continue;
      }
      writtenRows++;
      const text = ended(list, rendered(list, line, added, places, fields.flat()));
      body += text;
      const part = (status || "empty").replace(/[^\w-]/g, "_");
      parts.set(part, (parts.get(part) ?? "") + text);
    }

    // A column without items is refused at the end if other columns have some; a part of a list may have none.
    const isItem = (field: Field | undefined) =>
      (field?.items ?? []).length > 0 || (kind === "email" && field?.text === "x@y.z");
    const isElsewhere = rows.some(
      ({ line, isCopied }) =>
        !isCopied && line.fields.some((field, column) => !columns.includes(column) && isItem(field)),
    );
    const isNone = counts.every(({ size }) => size === 0);
    const paths = new Map(Array.from(parts, ([part, text]) => [`parts/${part}.${shape.format}`, text]));
    if (output === "split") {
      for (const path of paths.keys()) {
        if (plainStart(starts.get(path) ?? start) !== plainStart(start)) throw new Failure(6, distinct);
      }
    }
    if (count > 0 && isNone && isElsewhere && shard === undefined) {
      if (output === "stdout") stdout += (isEarly ? "" : start) + body;
      throw new Failure(2);
    }

    if (count === 0 && options.failsOnEmpty) throw new Failure(1);
    if (output === "split") {
      for (const [path, text] of paths) {
        files[path] = (files[path] ?? start) + text;
        if (!starts.has(path)) starts.set(path, start);
      }
    } else {
      if (output === "stdout") stdout += (isEarly ? "" : start) + body;
      // A run that changes nothing leaves the file and its backup.
      const isChanged = start + body !== textOf(list);
      if (output === "inPlace" && options.suffix !== "" && isChanged) files[list.name + options.suffix] = textOf(list);
      const path = output === "file" ? options.outputName : output === "folder" ? `out/${list.name}` : list.name;
      if (output !== "stdout") files[path] = start + body;
    }
    const [statuses, ...otherStatuses] = counts;
    const waiting = counts.some((each) => each.has(unchecked.status));
    const failing = [...new Set(options.failOn)].reduce(
      (sum, status) => sum + (statuses!.get(status) ?? 0) - (spared.get(status) ?? 0),
      0,
    );
    const { count: most = 0, isShare = false } = options.failLimit ?? {};
    // Shares have one decimal, and are compared in whole numbers.
    const isFound = isShare ? failing * 1000 > Math.round(most * 10) * count : failing > most;
    totals.rows += count;
    totals.distinct += distinct;
    return {
      code: waiting ? 4 : isFound ? 1 : 0,
      summary: {
        input: list.name,
        rows: count,
        written: writtenRows,
        empty: emptyRows,
        emptied,
        kept: keptRows,
        outvoted,
        distinct,
        badRows: isFirstShard ? bad.length : 0,
        linesLeftOut: shape.isReshaped ? list.titles.filter((title) => /^(?!sep=)\S/.test(title)).length : 0,
        used: used - usedBefore,
        statuses: Object.fromEntries(statuses!),
        otherStatuses: otherStatuses.map((each) => Object.fromEntries(each)),
      },
    };
  }

  /** The format that is written, and how. */
  function shapeOf({ name, delimiter }: List) {
    const format = delimiter === undefined ? "jsonl" : delimiter === "\t" ? "tsv" : "csv";
    const ending = options.outputName.slice("out.".length);
    const isNamed = output === "file" && !name.endsWith(`.${ending}`) && ending !== "txt" && ending !== format;
    const wanted = options.format ?? (isNamed ? (ending as "csv") : format);
    const isReshaped = wanted !== format || (options.format === "csv" && delimiter !== ",");

    return { format: wanted, isReshaped };
  }

  /** Counts the fields of a column that are filled, and those with a known status. */
  function statusesIn(list: List, column: number) {
    const rows = list.lines.filter(({ type }) => type === "row");
    const filled = rows.map(({ fields }) => fields[column]?.text ?? "").filter((text) => text !== "");
    return { filled: filled.length, known: filled.filter((text) => ranks.includes(text)).length };
  }

  /** Whether the list would be replaced by one with a second status column. */
  function isRunAgain(list: List): boolean {
    if (output !== "inPlace" || update !== undefined) return false;
    if (!list.hasHeader && list.delimiter !== undefined) {
      const { filled, known } = statusesIn(list, list.names.length - 1);
      return filled > 0 && known === filled;
    }
    return ["", ...columns.slice(1).map((column) => `_${list.names[column]}`)].some((end) => {
      const name = options.statusColumn + end;
      return [name, `idv_${name}`].some((each) => {
        const { filled, known } = statusesIn(list, list.names.indexOf(each));
        return list.names.includes(name) && filled > 0 && known === filled;
      });
    });
  }

  /** The names of the added columns, and the columns of an earlier run that they take. */
  function addedColumns(list: List) {
    const { names, hasHeader, delimiter } = list;
    const header = hasHeader || delimiter === undefined ? names : [];
    const taken = new Set(header.map((name) => name.toLowerCase()));
    const details = [
      ...(options.isExplained ? ["reason", "suggestion"] : []),
      ...(options.fix ? ["was"] : []),
      ...(options.isCanonical ? ["canonical"] : []),
      ...(options.isFlagged ? ["flags"] : []),
    ];
    const holdsStatuses = (column: number) => {
      const { filled, known } = statusesIn(list, column);
      return known >= filled / 2;
    };
    const added: string[] = [];
    const places: (number | undefined)[] = [];
    for (const end of ["", ...columns.slice(1).map((column) => `_${names[column]}`)]) {
      const status = update
        ? [options.statusColumn + end, `idv_${options.statusColumn}${end}`]
            .map((name) => header.indexOf(name))
            .find((index) => index >= 0 && holdsStatuses(index))
        : undefined;
      for (const usual of [options.statusColumn, ...details]) {
        const name = usual + end;
        const isBehind = (index: number) => {
          if (header[index] !== name || index <= status!) return false;
          if (usual === "reason") return header[index + 1] === `suggestion${end}`;
          return usual !== "suggestion" || header[index - 1] === `reason${end}`;
        };
        const place =
          usual === options.statusColumn || status === undefined
            ? status
            : header.findIndex((_, index) => isBehind(index));
        places.push(place === -1 ? undefined : place);
        if (place !== undefined && place !== -1) added.push(header[place]!);
        else if (!taken.has(name)) added.push(name);
        else added.push(taken.has(`idv_${name}`) ? `idv_${name}_2` : `idv_${name}`);
        taken.add(added.at(-1)!);
      }
    }
    return { added: added.map(escaped), places };
  }

  function startOf(list: List, added: readonly string[], places: readonly (number | undefined)[]): string {
    const { titles, names, hasHeader, hasMark, delimiter, lineEnding } = list;
    const { format, isReshaped } = shapeOf(list);
    if (options.header === "never" || (options.header === "first" && !isFirstShard)) return "";
    const keepsMark = hasMark && !(isReshaped && format === "jsonl");
    const mark = keepsMark || options.addsMark ? byteOrderMark : "";
    const above = isReshaped ? "" : titles.join("");
    if (format === "jsonl") return mark + above;
    if (!hasHeader) return mark + above;
    const written = isReshaped ? delimiters[format]! : delimiter!;
    const fields = [...names];
    for (const [i, name] of added.entries()) fields[places[i] ?? fields.length] = name;
    const header = fields.map((name) => rawField(name, written)).join(written);
    return mark + above + header + (isReshaped ? "\n" : lineEnding);
  }

  /** A row with its added fields. */
  function rendered(
    list: List,
    line: Line,
    added: readonly string[],
    places: readonly (number | undefined)[],
    ours: readonly string[],
  ): string {
    const { names, delimiter, space } = list;
    const { format, isReshaped } = shapeOf(list);
    if (format === "jsonl" && isReshaped) {
      const keys = list.hasHeader ? names : names.map((_, i) => String(i + 1));
      const object = new Map(line.fields.slice(0, names.length).map((field, i) => [keys[i]!, field!.text]));
      for (const [i, field] of ours.entries()) object.set(keys[places[i] ?? -1] ?? added[i]!, field);
      const members = Array.from(object, ([key, text]) => `${JSON.stringify(key)}:${JSON.stringify(text)}`);
      return `{${members.join(",")}}\n`;
    }
    if (format === "jsonl") {
      const raw = line.fields.map((field) => field && `${space}${field.raw}`);
      for (const [i, text] of ours.entries()) {
        const place = places[i];
        if (place !== undefined && line.fields[place] && line.fields[place].text !== text)
          raw[place] = space + JSON.stringify(text);
      }
      const members = raw.flatMap((value, i) => (value === undefined ? [] : `${JSON.stringify(names[i])}:${value}`));
      // Added members have the layout of the last one; nothing is before the first one.
      const before = members.length > 1 ? space : "";
      const colon = members.length > 0 ? `:${space}` : ":";
      const behind = ours.flatMap((text, i) =>
        places[i] !== undefined && line.fields[places[i]]
          ? []
          : `${before}${JSON.stringify(added[i])}${colon}${JSON.stringify(text)}`,
      );
      const inner = [members.join(`,${space}`), ...behind].filter((part) => part !== "").join(",");
      return `{${inner}}${line.end}`;
    }
    const found = lineOf(list, line) === "" ? 0 : line.fields.length;
    const isLeft = found < names.length && ours.every((text) => text === "");
    if (!isReshaped && isLeft && places.every((place) => place === undefined || place >= found)) {
      return lineOf(list, line) + line.end;
    }
    const written = isReshaped ? delimiters[format]! : delimiter!;
    const fields = names.map((_, i) => {
      const field = line.fields[i];
      return isReshaped ? rawField(field?.text ?? "", written) : (field?.raw ?? "");
    });
    for (const [i, text] of ours.entries()) {
      const place = places[i];
      // A field that does not change keeps its bytes.
      const isSame = place !== undefined && line.fields[place]?.text === text;
      if (isReshaped || !isSame) fields[place ?? fields.length] = rawField(text, written);
    }
    return fields.join(written) + (isReshaped ? "\n" : line.end);
  }

  /** Other rows may follow those of a shard, and those of a status. */
  function ended({ lineEnding }: List, text: string): string {
    const isEnded = (shard === undefined && output !== "split") || text === "" || /[\r\n]$/.test(text);
    return isEnded ? text : text + lineEnding;
  }

  /** A line that is no row. */
  function copied(list: List, line: Line, places: readonly (number | undefined)[]): string {
    const { isReshaped } = shapeOf(list);
    const { names, delimiter } = list;
    if (!isReshaped && delimiter !== undefined && line.fields.length > names.length) {
      // The columns of the verdicts stay empty.
      const raw = line.fields.map((field) => field!.raw);
      const ours = places.filter((place) => place === undefined).map(() => "");
      return [...raw.slice(0, names.length), ...ours, ...raw.slice(names.length)].join(delimiter) + line.end;
    }
    if (!isReshaped) return lineOf(list, line) + line.end;
    if (line.type === "other") return lineOf(list, line) + list.lineEnding;
    const fields = line.fields.map((field) => rawField(field!.text, list.delimiter!));
    return fields.join(list.delimiter) + list.lineEnding;
  }

  /** Status, reason, suggestion, what was replaced, canonical item and flags of the item that decides. */
  function addedFields(found: readonly Judged[]): string[] {
    const rank = ({ verdict }: Judged) => ranks.indexOf(verdict.status);
    const isBest = options.takesBest && !options.takesFirst;
    const rankOfBest = ({ verdict }: Judged) =>
      ["ok", "alias", unchecked.status, "disposable", "fake"].indexOf(verdict.status);
    const deciding = found.reduce(
      (a, b) => ((isBest ? rankOfBest(b) < rankOfBest(a) : rank(b) > rank(a)) ? b : a),
      found[0]!,
    );
    const { status, reason = "" }: Verdict = deciding?.verdict ?? { status: "" };
    const isChecked = deciding !== undefined && status !== unchecked.status;
    const isFixed = reason === "fixed";
    const detail: Omit<Verdict, "status"> =
      isChecked && !isFixed ? classifier.classify(kind, deciding.item) : { reason };
    // An item without its marks is suggested.
    const isMarked = isChecked && !deciding.isReplaced && deciding.written !== deciding.item;
    const suggestion = detail.suggestion ?? (isMarked ? deciding.item : "");
    const replaced = found.filter(({ isReplaced }) => isReplaced).map(({ written }) => written);
    return [
      status,
      ...(options.isExplained ? [detail.reason ?? "", suggestion] : []),
      ...(options.fix ? [replaced.join("; ")] : []),
      ...(options.isCanonical ? [(isChecked && canonicalItem(kind, deciding.item)) || ""] : []),
      ...(options.isFlagged ? [isChecked ? flagsOf(kind, deciding.item).join(" ") : ""] : []),
    ].map(escaped);
  }

  function escaped(text: string): string {
    return options.isEscaped && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  }

  function isChosen(status: string): boolean {
    if (output === "inPlace" && status === unchecked.status) return true;
    const name = status || "empty";
    return options.only?.includes(name) ?? !options.drop?.includes(name);
  }

  function dedupeKey(item: string): string {
    return (options.dedupe === "canonical" && canonicalItem(kind, item)) || item.toLowerCase();
  }

  // With -I, all lists are opened before the first is replaced.
  const unopened = lists.find(
    (list) =>
      isUnreadable(list) ||
      (badRows === "error" && isReadAtOnce(list) && list.lines.some((line) => isBroken(list, line))),
  );
  if (output === "inPlace" && unopened !== undefined) {
    const code = isUnreadable(unopened) ? failureOf(unopened) : 6;
    return { code, stdout, files: before, summaries, used, side: options.side && "as before" };
  }
  for (const list of lists) {
    const [usedBefore, verdictsBefore, writtenBefore] = [used, new Map(verdicts), written.size];
    totals.files++;
    try {
      const { code, summary } = run(list);
      codes.push(code);
      summaries.push(summary);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      codes.push(error.code);
      totals.failed++;
      used = usedBefore;
      verdicts = verdictsBefore;
      const isLast = list === lists.at(-1);
      if (!options.dedupe || isLast || (error.distinct === 0 && written.size === writtenBefore)) continue;
      // Rows that the others have in common with it would be in no output.
      totals.failed += lists.length - totals.files;
      totals.files = lists.length;
      break;
    }
  }
  // Bad rows are in the first part of a list. Where they are taken out of it, those of earlier runs stay.
  const areAdded = output === "inPlace" && options.side?.before === "its own";
  const hasSummary = summaries.length > 0 || (options.side?.option === "--log" && lists.length > 1);
  const hasBadRows = isFirstShard && (!areAdded || summaries.some((each) => each["badRows"] !== 0));
  if (lists.length > 1) summaries.push({ ...totals, used });
  const hasSide = hasSummary && (options.side?.option !== "--bad-rows" || hasBadRows);
  const side = options.side && (hasSide ? "new" : "as before");
  // A file gets a line for each list.
  const order = [0, 1, 4, 2, 6];
  const code = codes.reduce((a, b) => (order.indexOf(b) > order.indexOf(a) ? b : a));
  return { code, stdout, files, summaries, used, side };
}

const isNamedOtherwise = (list: List, column: number) => column === 1 && list.names[1] === "address";

/** The shard of an item: the finaliser of MurmurHash3 over sums of four words, in arithmetic without a limit. */
function shardOf(item: string, count: number): number {
  const key = item.toLowerCase();
  const factors = [0x85ebca6bn, 0xc2b2ae35n, 0x27d4eb2fn, 0x165667b1n];
  const words = key.match(/.{1,4}/gs)!.map((part) => {
    return part.split("").reduce((word, unit, nth) => word ^ (BigInt(unit.charCodeAt(0)) << BigInt(8 * nth)), 0n);
  });
  let hash = BigInt(key.length);
  for (let first = 0; first < words.length; first += 4) {
    const four = words.slice(first, first + 4).map((word, nth) => BigInt.asUintN(32, word) * factors[nth]!);
    hash = BigInt.asUintN(32, hash * 0x9e3779b1n + four.reduce((sum, each) => sum + each));
    hash ^= hash >> 15n;
  }
  hash ^= hash >> 16n;
  hash = BigInt.asUintN(32, hash * 0x85ebca6bn);
  hash ^= hash >> 13n;
  hash = BigInt.asUintN(32, hash * 0xc2b2ae35n);
  return (Number(hash ^ (hash >> 16n)) % count) + 1;
}
