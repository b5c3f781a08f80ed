/** JSON Schema (draft 2020-12) of the facts: a line of `--log json`, a report as JSON, a list of the service. */
import { statusWords } from "../validator/statuses.js";
import type { Facts } from "./facts.js";

type Schema = Readonly<Record<string, unknown>>;

const whole = (description: string): Schema => ({ type: "integer", minimum: 0, description });
const text = (description: string): Schema => ({ type: "string", description });
const textOrNull = (description: string): Schema => ({ type: ["string", "null"], description });
const flag = (description: string): Schema => ({ type: "boolean", description });
const counts = (description: string): Schema => ({
  type: "object",
  additionalProperties: { type: "integer", minimum: 0 },
  description,
});
const list = (items: Schema, description: string): Schema => ({ type: "array", items, description });

function object(properties: Readonly<Record<string, Schema>>, description: string, orNull = false) {
  return { type: orNull ? ["object", "null"] : "object", required: Object.keys(properties), properties, description };
}

const statuses = counts(`Rows by status: ${Object.keys(statusWords).slice(0, -1).join(", ")}, or one of a service.`);
const countedLines = { count: whole("Rows."), lines: list({ type: "integer" }, "Numbers of the first lines.") };

const input = object(
  {
    name: text("Path, or `standard input`."),
    column: whole("Column with the items, from 1."),
    columnName: textOrNull("Its name."),
    columns: list({ type: "string" }, "Names of all columns; none without a header."),
    otherColumns: list(
      object({ name: text("Name."), statuses }, "A column."),
      "Further columns with items, which are not counted elsewhere.",
    ),
    passedOver: list({ type: "string" }, "Columns with items that were not validated."),
    dialect: object(
      {
        delimiter: textOrNull("Null for a plain list."),
        quote: text("Quote; empty for none."),
        escape: text("What escapes a quote."),
        skipsSpaces: flag("Whether spaces before a field belong to the delimiter."),
        isUnwrapped: flag("Whether quotes around whole records were left out."),
      },
      "How the table was read.",
    ),
    encoding: textOrNull("Encoding that items that are not UTF-8 are in, if that is certain."),
    linesLeftOut: whole("Lines above the table for which the output has no room."),
    sheet: object(
      { name: text("Its name."), others: list(text("A name."), "Other sheets.") },
      "The sheet of a spreadsheet file, and others that may hold items.",
      true,
    ),
    emptyFormulas: object(
      { count: whole("Formulas."), first: text("The first one.") },
      "Formulas without a stored value.",
      true,
    ),
    hiddenRows: { ...whole("Rows of a sheet that are hidden."), type: ["integer", "null"] },
    otherElements: { ...whole("Elements of a JSON document that are no records."), type: ["integer", "null"] },
    elsewhere: object(
      { rows: whole("Rows."), column: text("The first such column."), isOnly: flag("Whether it is the only one.") },
      "Rows without an item that have one in another column.",
      true,
    ),
    badRowKinds: list(object({ kind: text("Kind."), ...countedLines }, "Bad rows of a kind."), "Bad rows by kind."),
    outvoted: object(
      countedLines,
      "Rows that are left out or fail the run, although another of their items is ok or alias.",
    ),
  },
  "An input, and how it was read.",
);

const named = list(
  object(
    { name: text("Name."), counts: list({ type: "integer" }, "Rows by `series`."), total: whole("Rows.") },
    "Counts of a name.",
  ),
  "Counts by name.",
);

const breakdown = object(
  {
    series: list({ type: "string" }, "Names of the counts below."),
    typos: named,
    providers: named,
    sameMailbox: whole("Distinct addresses that reach the mailbox of another one in the list."),
    months: object({ column: text("Column with the dates."), counts: named }, "Rows by month.", true),
    shownRows: {
      ...list(
        object(
          {
            file: text("Input."),
            line: { type: ["integer", "null"], description: "Line, from 1." },
            item: text("Item."),
            status: text("Status."),
            reason: textOrNull("Reason."),
            suggestion: textOrNull("What was probably meant."),
          },
          "A row.",
        ),
        "The first fake and disposable rows, if the report may have addresses.",
      ),
      type: ["array", "null"],
    },
    flags: counts("Rows by flag, if flags are added."),
    attacks: list(
      object(
        {
          month: textOrNull("Month, if the list has dates."),
          source: object({ column: text("Its column."), value: text("Its value.") }, "Where they came from.", true),
          pattern: text("What they have in common."),
          rows: whole("Rows of the pattern."),
          all: whole("All rows of that month and source."),
        },
        "Rows of one pattern that came together.",
      ),
      "What looks like an attack on a form, the largest first; of long lists, counted on a part of the rows.",
    ),
    isApproximate: flag("Whether rare domains may be missing."),
  },
  "What is counted for a report only.",
  true,
);

const properties = {
  version: { const: 1 satisfies Facts["version"], description: "Version of this schema." },
  made: { type: "string", format: "date-time", description: "End of the run." },
  madeBy: text("Program and version."),
  kind: { type: "string", enum: ["email", "domain"], description: "Kind of the items." },
  dryRun: flag("Whether nothing was charged and written: the units are those that would be."),
  engine: text("offline or api."),
  engineReason: text("Why this engine was chosen."),
  dataDays: { ...whole("Age of the newest list of disposable domains, in days."), type: ["integer", "null"] },
  inputs: list(input, "The inputs."),
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
  grade: { enum: ["good", "fair", "poor", "bad", null], description: "Grade of a list of addresses." },
  topDomains: list(
    object({ domain: text("Domain."), items: whole("Distinct items.") }, "A domain."),
    "Disposable domains with the most items.",
  ),
  units: object(
    {
      used: whole("Units charged."),
      paidBefore: whole("Units that another run of the same name had paid."),
      left: { ...whole("Units left."), type: ["integer", "null"] },
      limited: { type: ["boolean", "null"], description: "Whether the quota has a limit." },
      renews: { type: ["string", "null"], format: "date-time", description: "Renewal of the quota." },
    },
    "Cost of the run.",
  ),
  requests: { ...whole("Requests to a service."), type: ["integer", "null"] },
  dns: object(
    {
      asked: whole("Domains that were looked up."),
      cached: whole("Domains with a finding from the cache."),
      undecided: whole("Domains without a usable answer."),
      causes: counts("Undecided domains by cause."),
    },
    "Domains whose mail servers were looked up.",
    true,
  ),
  explained: flag("Whether reasons were written."),
  fixes: flag("Whether items were repaired."),
  outputs: list(object({ path: text("Path."), bytes: whole("Size in bytes.") }, "A file."), "Files that were written."),
  resume: textOrNull("Command that validates the rows for which there were no units."),
  next: textOrNull("Command that is suggested next."),
  seconds: { type: "number", minimum: 0, description: "Time of the run." },
  groups: list(
    object(
      {
        column: text("Name of the column."),
        isWanted: flag("Whether it was named with --by."),
        values: list(
          object({ name: text("Value."), rows: whole("Rows."), statuses: counts("Rows by status.") }, "A value."),
          "Values, the most frequent first.",
        ),
        others: object(
          {
            values: { type: ["integer", "null"], description: "Number of values; null if it is not known." },
            rows: whole("Rows."),
            statuses: counts("Rows by status."),
          },
          "All other values together; null if there are none.",
          true,
        ),
      },
      "A column.",
    ),
    "Rows by the values of columns with few of them, up to 20 values; if a report is made, or with --by.",
  ),
  breakdown,
  before: object(
    {
      made: { type: "string", format: "date-time", description: "End of its run." },
      inputs: list({ type: "string" }, "Names of its inputs."),
      rows: whole("Rows."),
      empty: whole("Rows without an item."),
      statuses,
    },
    "The report that this one replaces.",
    true,
  ),
} satisfies Readonly<Record<string, Schema>>;

export const factsSchema = object(properties, "What a run has found. Counts are rows unless stated otherwise.");
