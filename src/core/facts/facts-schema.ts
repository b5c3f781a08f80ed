/** JSON Schema (draft 2020-12) of the facts: a line of `--log json`, a report as JSON, a list of the service. */
import type { Kind } from "../classifier/verdict.js";
import { statusWords } from "../validator/statuses.js";
import type { GradeName } from "./grade.js";

/** The types of the facts are those of their schemas, so that the two cannot differ. */
type Schema<Value> = Readonly<Record<string, unknown>> & { readonly is?: Value };
type Values<Own> = { readonly [Name in keyof Own]: Own[Name] extends Schema<infer Value> ? Value : never };

const anyText: Schema<string> = { type: "string" };
const anyInteger: Schema<number> = { type: "integer" };
const whole = (description: string): Schema<number> => ({ type: "integer", minimum: 0, description });
const text = (description: string): Schema<string> => ({ type: "string", description });
const time = (description: string): Schema<string> => ({ type: "string", format: "date-time", description });
const flag = (description: string): Schema<boolean> => ({ type: "boolean", description });

function counts(description: string): Schema<Readonly<Record<string, number>>> {
  return { type: "object", additionalProperties: { type: "integer", minimum: 0 }, description };
}

function list<Value>(description: string, items: Schema<Value>): Schema<readonly Value[]> {
  return { type: "array", items, description };
}

type Schemas = Readonly<Record<string, Schema<unknown>>>;

function object<Own extends Schemas>(description: string, properties: Own): Schema<Values<Own>> {
  return { type: "object", required: Object.keys(properties), properties, description };
}

function orNull<Value>(schema: Schema<Value>): Schema<Value | null> {
  return { ...schema, type: [schema["type"], "null"] };
}

const statuses = counts(`Rows by status: ${Object.keys(statusWords).slice(0, -1).join(", ")}, or one of a service.`);
const countedLines = { count: whole("Rows."), lines: list("Numbers of the first lines.", anyInteger) };

const input = object("An input, and how it was read.", {
  name: text("Path, or `standard input`."),
  column: whole("Column with the items, from 1."),
  columnName: orNull(text("Its name.")),
  columns: list("Names of all columns; none without a header.", anyText),
  otherColumns: list(
    "Further columns with items, which are not counted elsewhere.",
    object("A column.", { name: text("Name."), statuses }),
  ),
  passedOver: list("Columns with items that were not validated.", anyText),
  dialect: object("How the table was read.", {
    delimiter: orNull(text("Null for a plain list.")),
    quote: text("Quote; empty for none."),
    escape: text("What escapes a quote."),
    skipsSpaces: flag("Whether spaces before a field belong to the delimiter."),
    isUnwrapped: flag("Whether quotes around whole records were left out."),
  }),
  encoding: orNull(text("Encoding that items that are not UTF-8 are in, if that is certain.")),
  linesLeftOut: whole("Lines above the table for which the output has no room."),
  sheet: orNull(
    object("The sheet of a spreadsheet file, and others that may hold items.", {
      ...{ name: text("Its name."), others: list("Other sheets.", text("A name.")) },
    }),
  ),
  emptyFormulas: orNull(
    object("Formulas without a stored value.", { count: whole("Formulas."), first: text("The first one.") }),
  ),
  hiddenRows: orNull(whole("Rows of a sheet that are hidden.")),
  otherElements: orNull(whole("Elements of a JSON document that are no records.")),
  elsewhere: orNull(
    object("Rows without an item that have one in another column.", {
      rows: whole("Rows."),
      column: text("The first such column."),
      isOnly: flag("Whether it is the only one."),
    }),
  ),
  badRowKinds: list("Bad rows by kind.", object("Bad rows of a kind.", { kind: text("Kind."), ...countedLines })),
  outvoted: object(
    "Rows that are left out or fail the run, although another of their items is ok or alias.",
    countedLines,
  ),
});

const named = list(
  "Counts by name.",
  object("Counts of a name.", {
    name: text("Name."),
    counts: list("Rows by `series`.", anyInteger),
    total: whole("Rows."),
  }),
);

const shownRow = object("A row.", {
  file: text("Input."),
  line: orNull({ ...anyInteger, description: "Line, from 1." }),
  item: text("Item."),
  status: text("Status."),
  reason: orNull(text("Reason.")),
  suggestion: orNull(text("What was probably meant.")),
});

const attack = object("Rows of one pattern that came together.", {
  month: orNull(text("Month, if the list has dates.")),
  source: orNull(object("Where they came from.", { column: text("Its column."), value: text("Its value.") })),
  pattern: text("What they have in common."),
  rows: whole("Rows of the pattern."),
  all: whole("All rows of that month and source."),
});

const breakdown = object("What is counted for a report only.", {
  series: list("Names of the counts below.", anyText),
  typos: named,
  providers: { ...named, description: "The domains with most fake and disposable rows." },
  sameMailbox: whole("Distinct addresses that reach the mailbox of another one in the list."),
  months: orNull(object("Rows by month.", { column: text("Column with the dates."), counts: named })),
  shownRows: orNull(list("The first fake and disposable rows, if the report may have addresses.", shownRow)),
  flags: counts("Rows by flag, if flags are added."),
  attacks: list(
    "What looks like an attack on a form, the largest first; of long lists, counted on a part of the rows.",
    attack,
  ),
  isApproximate: flag("Whether rare domains may be missing."),
});

const groupValue = object("A value.", {
  ...{ name: text("Value."), rows: whole("Rows."), statuses: counts("Rows by status.") },
});

const group = object("A column.", {
  column: text("Name of the column."),
  isWanted: flag("Whether it was named with --by."),
  values: list("Values, the most frequent first.", groupValue),
  others: orNull(
    object("All other values together; null if there are none.", {
      values: orNull({ ...anyInteger, description: "Number of values; null if it is not known." }),
      ...{ rows: whole("Rows."), statuses: counts("Rows by status.") },
    }),
  ),
});

const before = object("The report that this one replaces.", {
  made: time("End of its run."),
  inputs: list("Names of its inputs.", anyText),
  ...{ rows: whole("Rows."), empty: whole("Rows without an item."), statuses },
});

const properties = {
  version: { const: 1, description: "Version of this schema." } as Schema<1>,
  made: time("End of the run."),
  madeBy: text("Program and version."),
  kind: { type: "string", enum: ["email", "domain"], description: "Kind of the items." } as Schema<Kind>,
  dryRun: flag("Whether nothing was charged and written: the units are those that would be."),
  engine: text("offline or api."),
  engineReason: text("Why this engine was chosen."),
  dataDays: orNull(whole("Age of the newest list of disposable domains, in days.")),
  inputs: list("The inputs.", input),
  failed: whole("Inputs that could not be validated, and are not in `inputs`."),
  rows: whole("Rows, without header and bad rows."),
  written: whole("Rows in the output."),
  empty: whole("Rows without an item."),
  emptied: whole("Values that mean that there is no item, such as n/a."),
  badRows: whole("Bad rows, which are not in `rows`."),
  marked: whole("Values with invisible characters, quotes or the like around an item."),
  repairable: whole("Rows that --fix repairs."),
  fixed: whole("Rows that were repaired."),
  kept: whole("Rows with the status of an earlier run."),
  notUtf8: whole("Rows with an item that is not UTF-8."),
  distinct: whole("Distinct items; those of an earlier input are not counted again."),
  cached: whole("Distinct items with a verdict from the cache."),
  prechecked: whole("Distinct items that are fake by their syntax, and cost nothing."),
  statuses,
  distinctStatuses: counts("Distinct items by status."),
  reasons: counts("Rows by the code of their reason."),
  spared: counts("Rows by status that do not fail the run, as another of their items is ok or alias."),
  grade: {
    ...{ enum: ["good", "fair", "poor", "bad", null], description: "Grade of a list of addresses." },
  } as Schema<GradeName | null>,
  topDomains: list(
    "Disposable domains with the most items.",
    object("A domain.", { domain: text("Domain."), items: whole("Distinct items.") }),
  ),
  units: object("Cost of the run.", {
    used: whole("Units charged."),
    paidBefore: whole("Units that another run of the same name had paid."),
    left: orNull(whole("Units left.")),
    usedByAll: orNull(whole("Units of the quota that are used so far, by all runs.")),
    limited: orNull(flag("Whether the quota has a limit.")),
    renews: orNull(time("Renewal of the quota.")),
  }),
  requests: orNull(whole("Requests to a service.")),
  dns: orNull(
    object("Domains whose mail servers were looked up.", {
      asked: whole("Domains that were looked up."),
      cached: whole("Domains with a finding from the cache."),
      undecided: whole("Domains without a usable answer."),
      causes: counts("Undecided domains by cause."),
    }),
  ),
  explained: flag("Whether reasons were written."),
  fixes: flag("Whether items were repaired."),
  outputs: list("Files that were written.", object("A file.", { path: text("Path."), bytes: whole("Size in bytes.") })),
  resume: orNull(text("Command that validates the rows for which there were no units.")),
  next: orNull(text("Command that is suggested next.")),
  repair: orNull(text("Command that repairs mistyped items of the input, if that costs nothing.")),
  seconds: { type: "number", minimum: 0, description: "Time of the run." } as Schema<number>,
  groups: list(
    "Rows by the values of columns with few of them, up to 20 values; if a report is made, or with --by.",
    group,
  ),
  breakdown: orNull(breakdown),
  before: orNull(before),
};

const description = "What a run has found. Counts are rows unless stated otherwise.";
export const factsSchema = { ...object(description, properties), properties };

export type Facts = Values<typeof properties>;
export type InputFacts = Facts["inputs"][number];
export type Counts = Facts["statuses"];
export type Before = NonNullable<Facts["before"]>;
export type Breakdown = NonNullable<Facts["breakdown"]>;
export type NamedCounts = Breakdown["typos"][number];
export type Attack = Breakdown["attacks"][number];
export type Group = Facts["groups"][number];
export type GroupValue = Group["values"][number];
