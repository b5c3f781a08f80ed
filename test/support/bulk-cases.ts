/**
 * Random bulk runs: lists of files with options that fit together. A list is made from its fields, so that the model in
 * bulk-model.ts has nothing to parse.
 */
import { randomFrom } from "./random.js";

/** A field: its text, and how it is written in the file. */
export interface Field {
  readonly text: string;
  readonly raw: string;
  /** The items in it, if it is in a column with items. */
  readonly items?: readonly string[];
  /** How the items are written in it. */
  readonly written?: readonly string[];
}

/**
 * Returns whether a row of another width than its table is no bad row: its items look like items, and the first column has one if
 * another one has. Rows that are out of step have tests of their own.
 */
function isInStep(kind: "email" | "domain", fields: readonly Field[]): boolean {
  const shape = kind === "email" ? /^[^\s@,;|"<>()]+@[^\s@,;|"<>()]+$/ : /^(?:[\w-]+\.)+[a-z]{2,}$/i;
  const items = fields.map((field) => field.items ?? []);
  const areItems = items.flat().every((item) => shape.test(item));
  return areItems && (items.flat().length === 0 || (items[1] ?? []).length > 0);
}

/** A record with its line ending. */
export interface Line {
  /**
   * `other` is no row in any table: a comment, or a blank line among lines of JSON. `broken` is a line that is not JSON, and
   * `header` the header of another table.
   */
  readonly type: "row" | "other" | "broken" | "header";
  /** Fields by their columns. A key that a line of JSON lacks is undefined, and a short row ends early. */
  readonly fields: readonly (Field | undefined)[];
  /** Text of a line that is not a row. */
  readonly text: string;
  readonly end: string;
}

export interface List {
  readonly name: string;
  readonly isMissing: boolean;
  /** Undefined for lines of JSON. */
  readonly delimiter: string | undefined;
  readonly lineEnding: string;
  readonly hasMark: boolean;
  /** Lines above the header, each with its line ending. */
  readonly titles: readonly string[];
  /** Names of the columns, or the keys of the objects. */
  readonly names: readonly string[];
  readonly hasHeader: boolean;
  /** White space after the commas and colons in lines of JSON. */
  readonly space: string;
  readonly lines: readonly Line[];
}

interface Options {
  readonly kind: "email" | "domain";
  readonly output: "stdout" | "file" | "folder" | "inPlace" | "split";
  /** Name of the output file. */
  readonly outputName: string;
  readonly suffix: string;
  /** Indices of the columns with items. */
  readonly columns: readonly number[];
  readonly update: "rest" | "all" | undefined;
  readonly dedupe: "item" | "canonical" | undefined;
  readonly only: readonly string[] | undefined;
  readonly drop: readonly string[] | undefined;
  readonly shard: { readonly index: number; readonly count: number } | undefined;
  readonly header: "always" | "first" | "never";
  readonly badRows: "error" | "skip" | "keep";
  readonly ragged: "pad" | "error";
  readonly format: "csv" | "tsv" | "jsonl" | undefined;
  /** Name of the first added column. */
  readonly statusColumn: string;
  readonly isExplained: boolean;
  readonly isCanonical: boolean;
  readonly isFlagged: boolean;
  readonly isEscaped: boolean;
  readonly takesFirst: boolean;
  readonly takesBest: boolean;
  readonly failOn: readonly string[] | undefined;
  /** Number of rows that `failOn` allows, or their share of all rows in per cent. */
  readonly failLimit: { readonly count: number; readonly isShare: boolean } | undefined;
  readonly failsOnEmpty: boolean;
  readonly addsMark: boolean;
  readonly fix: "typos" | "all" | undefined;
  readonly side: Side | undefined;
}

/** A file beside the output, and what is there under its name before. */
export interface Side {
  readonly option: string;
  readonly path: string;
  readonly before: "nothing" | "a table" | "its own";
}

export interface BulkCase {
  readonly lists: readonly List[];
  readonly options: Options;
  /** Units of the quota; null for no limit. */
  readonly limit: number | null;
  readonly args: readonly string[];
}

/** Returns a list as it is in its file. */
export const textOf = (list: List): string =>
  (list.hasMark ? "\ufeff" : "") +
  list.titles.join("") +
  (list.hasHeader && list.delimiter !== undefined
    ? list.names.map((name) => rawField(name, list.delimiter!)).join(list.delimiter) + list.lineEnding
    : "") +
  list.lines.map((line) => lineOf(list, line) + line.end).join("");

/** Returns a line of a list, without its line ending. */
export function lineOf({ delimiter, names, space }: List, { type, fields, text }: Line): string {
  if (type !== "row" && type !== "header") return text;
  if (delimiter !== undefined) return fields.map((field) => field!.raw).join(delimiter);
  const members = fields.flatMap((field, i) => field && `${JSON.stringify(names[i])}:${space}${field.raw}`);
  return `{${members.filter((member) => member !== undefined).join(`,${space}`)}}`;
}

/** Quotes a field where it must be quoted. */
export const rawField = (text: string, delimiter: string): string =>
  text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** An item in a text: as it is, or how it is written and as it is. */
type TextItem = string | readonly [written: string, item: string];

const bareItems = (...items: readonly string[]) => items.map((item) => [item, item] as const);

/** Texts with the items in them. */
const texts: Readonly<Record<Options["kind"], readonly (readonly [string, ...TextItem[]])[]>> = {
  email: [
    ...[[""], [" "], ["n/a"]],
    ...bareItems("x@mailinator.com", "y@mailinator.com", "ann@larch-and-oak.com", "ANN@larch-and-oak.com"),
    ...bareItems("test@hotmail.com", "ann.lee@gmail.com", "AnnLee+x@googlemail.com", "ann+1@larch-and-oak.com"),
    ...bareItems("bob.lee@gmial.com", "a@@b", "é@larch-and-oak.com", "+bob@larch-and-oak.com", "bob.lee@gmail.com"),
    [" bob@larch-and-oak.com ", "bob@larch-and-oak.com"],
    ["Ann <ann@larch-and-oak.com>", "ann@larch-and-oak.com"],
    ['"Lee, Ann" <ann@larch-and-oak.com>', "ann@larch-and-oak.com"],
    ["mailto:x@mailinator.com", "x@mailinator.com"],
    ["y@mailinator.com; ann@larch-and-oak.com", "y@mailinator.com", "ann@larch-and-oak.com"],
    ["user1@larch-and-oak.com; user2@larch-and-oak.com", "user1@larch-and-oak.com", "user2@larch-and-oak.com"],
    ["x@mailinator.com, Ann <ann@larch-and-oak.com>", "x@mailinator.com", "ann@larch-and-oak.com"],
    ["Lee, Bob <bob.lee@gmial.com>; ann@larch-and-oak.com", "bob.lee@gmial.com", "ann@larch-and-oak.com"],
    ["<user1@larch-and-oak.com>, <bob.lee@gmial.com>", "user1@larch-and-oak.com", "bob.lee@gmial.com"],
    ["bob.lee@gmial.com;\nann.lee@hotmial.com", "bob.lee@gmial.com", "ann.lee@hotmial.com"],
    ["Bob <bob.lee@gmial.com>", "bob.lee@gmial.com"],
    ["\u200bann@larch-and-oak.com", ["\u200bann@larch-and-oak.com", "ann@larch-and-oak.com"]],
    ["\u00adbob.lee@gmial.com", ["\u00adbob.lee@gmial.com", "bob.lee@gmial.com"]],
    ["user1@larch-and-oak.com\u200b", ["user1@larch-and-oak.com\u200b", "user1@larch-and-oak.com"]],
  ] as const,
  domain: [
    ...[[""], ["n/a"]],
    ...bareItems("larch-and-oak.com", "LARCH-and-oak.com", "mailinator.com", "gmial.com", "localhost"),
    ["https://larch-and-oak.com/x", "larch-and-oak.com"],
    ["https://gmial.com/x", "gmial.com"],
    ["ann@mailinator.com", "mailinator.com"],
    ["oak.net; larch-and-oak.com", "oak.net", "larch-and-oak.com"],
    ["gmial.com; oak.net", "gmial.com", "oak.net"],
    ["larch-and-oak.com\u200b", ["larch-and-oak.com\u200b", "larch-and-oak.com"]],
  ] as const,
};
/** Lines that other programs write above a table. */
const titlesAbove = (delimiter: string) => [
  ["Export of customers"],
  ["Export of customers", ""],
  ["Notes:", '"You may notice, that some are missing"', ""],
  [`sep=${delimiter}`],
];
/** Notes that are bare in lines of JSON, where they keep how they are written. */
const bare = ["12345678901234567890", "1.50", "1E5", "true", "[1.0, 2]", '{"b":98765432109876543,"s":"a,\\"}:"}'];
const words = ["", "", "x", "customer", "calls, back", "a;b", "tab\there", "a|b", 'said "no"', "two\nlines"];
const notes = [...words, ...bare];
const statuses = ["ok", "fake", "disposable", "quota_exceeded", "empty"];
const rowsOf = (count: number) => ({ count, isShare: false });
const shareOf = (count: number) => ({ count, isShare: true });
const limitOf = ({ failLimit }: Options) =>
  failLimit === undefined ? "" : `:${failLimit.count}${failLimit.isShare ? "%" : ""}`;

export function bulkCase(seed: number): BulkCase {
  const random = randomFrom(seed);
  const below = (end: number) => Math.floor(random() * end);
  const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)]!;
  const chance = (percent: number) => random() * 100 < percent;
  const some = <Value>(percent: number, value: () => Value) => (chance(percent) ? value() : undefined);
  const aFew = <Value>(values: readonly Value[]) => {
    const chosen = values.filter(() => chance(40));
    return chosen.length > 0 ? chosen : [pick(values)];
  };

  const kind = chance(85) ? "email" : "domain";
  const count = chance(65) ? 1 : 2 + below(2);
  const hasHeader = count > 1 || chance(92);
  const withOther = kind === "email" && chance(35);
  const update = some(35, () => pick(["rest", "rest", "all"] as const));
  const columns = withOther && hasHeader && chance(60) ? [1, 3] : [1];
  const output = pick<Options["output"]>(
    count === 1 ? ["stdout", "file", "file", "inPlace", "inPlace", "split"] : ["folder", "inPlace", "split"],
  );
  const aShard = () => {
    const count = 1 + below(3);
    return { index: 1 + below(count), count };
  };
  const shard = output !== "inPlace" && columns.length === 1 ? some(40, aShard) : undefined;
  const hasComments = chance(15);
  const badRows = pick(["error", "skip", "skip", "keep"] as const);
  const keepsBad = badRows === "keep" && output !== "split";
  const badRowPolicy = badRows === "keep" && !keepsBad ? "skip" : badRows;
  const mustKeepFormat = keepsBad || output === "inPlace";
  const format = mustKeepFormat ? undefined : some(20, () => pick(["csv", "tsv", "jsonl"] as const));
  const dedupe = some(40, () => pick(shard ? ["item" as const] : (["item", "canonical"] as const)));
  const filter = below(10);
  const isRepaired = chance(25) && !(shard && dedupe);
  const fix = isRepaired ? pick(["typos", "typos", "all"] as const) : undefined;
  const chosen = kind === "email" ? [...statuses, "alias"] : statuses;

  const sharedDelimiter = some(hasHeader ? 25 : 100, () => pick([",", ";", "\t", "|", ":"]));
  const hasFaults = chance(35);
  const list = (index: number): List => {
    const isJson = sharedDelimiter === undefined && hasHeader && chance(22);
    const delimiter = isJson ? undefined : (sharedDelimiter ?? pick([",", ",", ";", "\t", "|"]));
    const lineEnding = pick(["\n", "\n", "\r\n", isJson || count > 1 ? "\n" : "\r"]);
    const isMixed = lineEnding !== "\r" && chance(10);
    const end = () => (isMixed && chance(30) ? (lineEnding === "\n" ? "\r\n" : "\n") : lineEnding);
    const earlier = chance(update ? 85 : 15)
      ? pick([
          ["status"],
          ["status", "reason", "suggestion"],
          ["status", "canonical"],
          ["status", "seen", "reason", "suggestion", "canonical"],
          ...(columns.length > 1 ? [["status", "status_second"]] : []),
          ["idv_status"],
          ["status", "was"],
        ])
      : [];
    const lacksColumn = count > 1 && columns.length === 1 && chance(4);
    const item = kind === "email" ? "email" : "domain";
    const names = ["id", lacksColumn ? "address" : item, "note", ...(withOther ? ["second"] : []), ...earlier];

    const field = (text: string, found?: readonly TextItem[]): Field => {
      const each = found?.map((item) => (typeof item === "string" ? [item, item] : item));
      const items = each && { items: each.map(([, item]) => item!), written: each.map(([written]) => written!) };
      if (delimiter === undefined) {
        const isBare =
          items === undefined && (/^\d+$/.test(text) || bare.includes(text) ? chance(50) : text === "" && chance(20));
        return { text, raw: isBare ? text || "null" : JSON.stringify(text), ...items };
      }
      const needed = rawField(text, delimiter);
      return { text, raw: needed === text && chance(15) ? `"${text}"` : needed, ...items };
    };
    const itemField = () => {
      if (chance(35)) {
        const number = below(6);
        const text = kind === "email" ? `user${number}@larch-and-oak.com` : `site${number}.com`;
        return field(text, [text]);
      }
      const [text, ...items] = pick(texts[kind]);
      return field(text, items);
    };
    const earlierField = (name: string) => {
      if (!name.includes("status")) return field(pick(["", "", "x@y.z", "earlier"]));
      const usual = ["ok", "ok", "fake", "disposable", "alias"];
      return field(chance(25) ? "" : chance(15) ? "quota_exceeded" : chance(4) ? "catch-all" : pick(usual));
    };
    const fullRow = (id: number) =>
      names.map((name, column) => {
        if (column === 0) return field(String(id));
        if (column === 1 || name === "second") return itemField();
        return name === "note" ? field(pick(notes)) : earlierField(name);
      });
    const lines: Line[] = [];
    const rowCount = pick([0, 1, 3, 6, 12, 25]) || (isJson || !hasHeader ? 1 : 0);
    let surplus = 0;
    for (let row = 0; row < rowCount; row++) {
      const full = fullRow(row + 1);
      const kindOfLine = row === 0 && (isJson || !hasHeader) ? 0 : below(100);
      const add = (type: Line["type"], fields: Line["fields"], text = "") =>
        lines.push({ type, fields, text, end: row === 0 ? lineEnding : end() });
      if (hasComments && kindOfLine >= 90) add("other", [], "# a comment, with a comma");
      else if (kindOfLine >= 86) {
        // A blank line.
        if (isJson) add("other", []);
        else add("row", [{ text: "", raw: "" }]);
      } else if (hasFaults && kindOfLine >= 76) {
        if (isJson) add("broken", [], '{"id": 1');
        // The lines of a note would be as long as rows, and its quotes taken for text.
        else if (hasHeader)
          add("row", [...full.map((each) => (/\n/.test(each.text) ? field("x") : each)), field("x"), field("y")]);
        else add("row", full);
      } else if (kindOfLine >= 68) {
        const kept = isJson ? full.map((each) => some(80, () => each)) : full.slice(0, 1 + below(full.length));
        add("row", isJson || isInStep(kind, kept as Field[]) ? kept : full);
      } else if (kindOfLine >= 66 && !isJson && row > 2 && surplus === 0 && isInStep(kind, full)) {
        surplus++;
        add("row", [...full, { text: "", raw: "" }]);
      } else add("row", full);
    }
    // A row without a line ending is read after the others, which are charged by then, and so is one with a CR, which may be
    // half of a CRLF. Where a list may fail, this row must not be the reason.
    if (lineEnding === "\r" || (count === 1 && lines.length > 0 && chance(20))) {
      const text = kind === "email" ? "user1@larch-and-oak.com" : "site1.com";
      const fields = names.map((_, column) => (column === 1 ? field(text, [text]) : field("")));
      lines.push({ type: "row", fields, text: "", end: lineEnding === "\r" && chance(80) ? lineEnding : "" });
    }
    // Tables that were joined: the names of the header again, in this order or in another one.
    const joined = isJson || !hasHeader || hasFaults ? 100 : below(100);
    if (joined < 6 && lines.length > 2) {
      const own = names.map((name) => field(name));
      const at = 1 + below(lines.length - 1);
      const [first, second, ...rest] = own;
      if (joined < 3) lines.splice(at, 0, { type: "row", fields: own, text: "", end: lineEnding });
      else lines.splice(at, 0, { type: "header", fields: [second!, first!, ...rest], text: "", end: lineEnding });
    }
    // Rows with empty fields at the end would widen a table that has no more of the other rows.
    const full = lines.filter(({ type, fields }) => type === "row" && fields.length === names.length).length;
    const narrow = surplus > 0 && full < 2;
    const titles = !isJson && hasHeader && chance(20) ? pick(titlesAbove(delimiter!)) : [];
    return {
      name: `list${index}.${isJson ? "jsonl" : delimiter === "\t" && chance(70) ? "tsv" : "csv"}`,
      isMissing: count > 1 && chance(4),
      delimiter,
      lineEnding,
      hasMark: chance(10),
      names,
      hasHeader,
      lines: narrow ? [] : lines,
      titles: titles.map((title) => title + lineEnding),
      space: pick(["", " "]),
    };
  };
  const lists = Array.from({ length: count }, (_, index) => list(index));

  const extension = lists[0]!.name.slice("list0.".length);
  const options: Options = {
    kind,
    output,
    columns,
    update,
    dedupe,
    shard,
    format,
    badRows: badRowPolicy,
    outputName: `out.${mustKeepFormat || chance(60) ? extension : pick(["csv", "tsv", "jsonl", "txt"])}`,
    // Without a backup, repaired items and bad rows would be lost.
    suffix: fix === undefined && badRowPolicy !== "skip" ? pick(["", ".bak", "~"]) : pick([".bak", "~"]),
    only: filter < 3 ? aFew(chosen) : undefined,
    drop: filter >= 7 ? aFew(chosen) : undefined,
    header: output === "inPlace" ? "always" : pick(["always", "always", "always", "first", "never"]),
    ragged: pick(["pad", "pad", "pad", "error"]),
    statusColumn: pick(["status", "status", "status", "verdict"]),
    isExplained: chance(30),
    isCanonical: chance(25),
    isFlagged: chance(20),
    isEscaped: chance(10),
    takesFirst: chance(shard ? 80 : 15),
    takesBest: !shard && chance(15),
    failOn: some(30, () => pick([["fake"], ["disposable"], ["ok"], ["fake", "disposable"], ["ok", "ok"]])),
    failLimit: some(60, () => pick([...[0, 1, 3].map(rowsOf), ...[0, 29, 33.3, 50, 99.9].map(shareOf)])),
    failsOnEmpty: chance(10),
    addsMark: chance(8),
    fix,
    side: some(12, () => ({
      ...pick([
        { option: "--report", path: "report.html" },
        { option: "--report", path: "report.md" },
        { option: "--log", path: "log.jsonl" },
        ...(badRowPolicy === "skip" ? [{ option: "--bad-rows", path: "bad.csv" }] : []),
      ]),
      before: pick(["nothing", "a table", "its own"] as const),
    })),
  };
  const given = hasHeader ? columns.map((column) => lists[0]!.names[column]!) : ["2"];
  // The column of a list without it has another name.
  const wanted = given.map((name) => (name === "address" ? (kind === "email" ? "email" : "domain") : name));
  // A column without items is passed over, unless it is named.
  const hasItems = ({ names, lines }: List) =>
    names[1] !== "address" && lines.some(({ fields }) => (fields[1]?.items ?? []).length > 0);
  const isFound = columns.length === 1 && hasHeader && lists.every(hasItems);
  const isByNumber = chance(25) && lists.every(({ names }) => names[1] !== "address");
  const limit = chance(50) ? below(8) : null;
  const flag = (isGiven: boolean, ...args: readonly string[]) => (isGiven ? args : []);
  const listed = (name: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0 ? [] : [name, values.join(",")];
  const ofSide = (option: string, prefix: string, otherwise: string) =>
    options.side?.option === option ? prefix + options.side.path : otherwise;
  const args = [
    kind === "email" ? "emails" : "domains",
    ...lists.map(({ name }) => name),
    ...flag(output === "file", "-o", options.outputName),
    ...flag(output === "folder", "-o", "out/"),
    ...flag(output === "inPlace", pick(options.suffix ? ["-I", "--in-place="] : ["-I", "--in-place"]) + options.suffix),
    ...flag(output === "split", "--split", "parts"),
    ...flag(!isFound || chance(50), ...wanted.flatMap((name, i) => ["-c", isByNumber ? `${columns[i]! + 1}` : name])),
    ...flag(sharedDelimiter !== undefined, "-d", sharedDelimiter === "\t" ? pick(["\\t", "tab"]) : sharedDelimiter!),
    ...flag(!hasHeader, "-n"),
    ...flag(update !== undefined, update === "all" ? "--update=all" : "--update"),
    ...flag(dedupe !== undefined, dedupe === "canonical" ? "--dedupe=canonical" : "--dedupe"),
    ...listed("--only", options.only),
    ...listed("--drop", options.drop),
    ...flag(shard !== undefined, "--shard", `${shard?.index}/${shard?.count}`),
    ...flag(options.header !== "always", "--set", `header=${options.header}`),
    ...flag(badRowPolicy !== "error", "--bad-rows", ofSide("--bad-rows", `${badRowPolicy}:`, badRowPolicy)),
    ...flag(options.ragged === "error", "--set", "ragged=error"),
    ...flag(format !== undefined, "--format", format ?? ""),
    ...flag(fix !== undefined, fix === "all" ? "--fix=all" : "--fix"),
    ...flag(options.side?.option === "--report", "--report", options.side?.path ?? ""),
    ...flag(options.statusColumn !== "status", "--set", `statusColumn=${options.statusColumn}`),
    ...flag(options.isExplained, "--explain"),
    ...flag(options.isCanonical, "--add", "canonical"),
    ...flag(options.isFlagged, "--add", "flags"),
    ...flag(options.isEscaped, "--set", "escapeFormulas=true"),
    ...flag(options.takesFirst, "--set", "cell=first"),
    ...flag(options.takesBest && !options.takesFirst, "--set", "cell=best"),
    ...listed("--fail-on", options.failOn && [`${options.failOn}${limitOf(options)}`]),
    ...flag(options.failsOnEmpty, "--fail-on=no-rows"),
    ...flag(options.addsMark, "--encoding", ":utf-8-bom"),
    ...flag(hasComments, "--comment", "#"),
    ...["--log", ofSide("--log", "json:", "json")],
  ];
  return { lists, options, limit, args };
}
