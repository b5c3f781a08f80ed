/** Schemas of the bodies that the routes for lists and those for warehouses send and take. */
import { factsSchema } from "../../core/facts/facts-schema.js";

export const text = (description: string) => ({ type: "string", description });
export const integer = (description: string) => ({ type: "integer", description });
export const textOrNull = (description: string) => ({ type: ["string", "null"], description });
export const oneOf = (values: readonly string[], description: string) => ({
  type: "string",
  enum: values,
  description,
});
export const arrayOf = (description: string, items: object) => ({ type: "array", items, description });
export const mapOf = (additionalProperties: object, description: string) => {
  return { type: "object", additionalProperties, description };
};

/** An object that has all of its properties. */
export const record = (properties: Readonly<Record<string, object>>) => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});

/** A row is a number and a text or null, which the version of JSON Schema that checks bodies cannot tell. */
const cell = { description: "A number, a text or null." };

export const namedBodies = {
  List: record({
    id: text("Id of the list."),
    name: text("File name."),
    kind: oneOf(["email", "domain"], "Kind of its items."),
    state: oneOf(
      ["arriving", "found", "waiting", "running", "done", "failed"],
      "done: the result can be fetched. failed: `fault` has the reason.",
    ),
    created: { ...text("Time at which it was sent."), format: "date-time" },
    changed: { ...text("Time of the last change of its state."), format: "date-time" },
    progress: {
      type: ["object", "null"],
      description: "Progress of the run; null before and after it.",
      properties: {
        rows: integer("Rows that were checked."),
        share: { type: ["number", "null"], description: "Checked share of the list, from 0 to 1." },
        units: integer("Units charged so far."),
      },
    },
    summary: {
      ...factsSchema,
      type: ["object", "null"],
      description: "What the run has found; null before its end.",
      properties: {
        ...factsSchema.properties,
        isExhausted: {
          type: "boolean",
          description: "Whether the units ended before the list; then `POST /lists/{id}/run` checks the rest.",
        },
      },
    },
    files: arrayOf(
      "Files of the result.",
      record({ name: text("Name of the file."), bytes: integer("Size of the file.") }),
    ),
    fault: textOrNull("Reason why the list could not be checked."),
  }),
  Lists: record({ lists: arrayOf("The lists of the key.", { $ref: "List#" }) }),
  BigQueryRequest: {
    type: "object",
    required: ["calls"],
    properties: {
      requestId: text("Identifies the request in all of its tries: it is charged once."),
      caller: text("The job."),
      sessionUser: text("Whose query it is; ignored."),
      userDefinedContext: {
        type: "object",
        additionalProperties: { type: "string" },
        properties: { idv_key: text("The API key.") },
        description: "The user_defined_context of the function.",
      },
      calls: arrayOf("The argument of each call.", {
        ...{ type: "array", minItems: 1, maxItems: 1, items: textOrNull("The item.") },
      }),
    },
  },
  BigQueryResponse: record({ replies: arrayOf("The value of each call.", textOrNull("The verdict; null for NULL.")) }),
  SnowflakeRequest: record({
    data: arrayOf("The number of each row, and its argument.", {
      type: "array",
      minItems: 2,
      maxItems: 2,
      items: cell,
    }),
  }),
  SnowflakeResponse: record({
    data: arrayOf("The number of each row, and its status.", { type: "array", items: cell }),
  }),
};

/** A query has texts only. */
const flag = (description: string) => ({ ...text(description), enum: ["true", "false"], default: "false" });

/** The names are those of the fields in the dashboard. */
export const submissionSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    kind: { type: "string", enum: ["email", "domain"], default: "email", description: "Kind of the items." },
    name: { ...text("File name; its ending decides the format of the result."), maxLength: 200, default: "list.csv" },
    column: {
      type: "string",
      maxLength: 100,
      pattern: "^[^\\u0000-\\u001f]*$",
      description: "Name or number of the column with the items; detected by default.",
    },
    delimiter: { ...text("Delimiter of the fields; detected by default."), enum: [",", ";", "tab", "|", "none"] },
    drop: { type: "string", maxLength: 100, description: "Statuses, separated by commas, whose rows are left out." },
    split: flag("Gives each status a file of its own."),
    explain: flag("Adds the columns reason and suggestion."),
    dns: flag("Looks up whether domains receive mail."),
  },
} as const;
