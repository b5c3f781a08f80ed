/** Schemas of the lists in the OpenAPI document. */
import { factsSchema } from "../../core/facts/facts-schema.js";

export const listSchemas = {
  List: {
    type: "object",
    required: ["id", "name", "kind", "state", "created", "changed", "progress", "summary", "files", "fault"],
    properties: {
      id: { type: "string", description: "Id of the list." },
      name: { type: "string", description: "File name." },
      kind: { type: "string", enum: ["email", "domain"], description: "Kind of its items." },
      state: {
        type: "string",
        enum: ["arriving", "found", "waiting", "running", "done", "failed"],
        description: "done: the result can be fetched. failed: `fault` has the reason.",
      },
      created: { type: "string", format: "date-time", description: "Time at which it was sent." },
      changed: { type: "string", format: "date-time", description: "Time of the last change of its state." },
      progress: {
        type: ["object", "null"],
        description: "Progress of the run; null before and after it.",
        properties: {
          rows: { type: "integer", description: "Rows that were checked." },
          share: { type: ["number", "null"], description: "Checked share of the list, from 0 to 1." },
          units: { type: "integer", description: "Units charged so far." },
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
      files: {
        type: "array",
        description: "Files of the result.",
        items: {
          type: "object",
          required: ["name", "bytes"],
          properties: {
            name: { type: "string", description: "Name of the file." },
            bytes: { type: "integer", description: "Size of the file." },
          },
        },
      },
      fault: { type: ["string", "null"], description: "Reason why the list could not be checked." },
    },
  },
  Lists: {
    type: "object",
    required: ["lists"],
    properties: { lists: { type: "array", items: { $ref: "List#" }, description: "The lists of the key." } },
  },
};

/** A query has texts only. */
const flag = { type: "string", enum: ["true", "false"], default: "false" } as const;

/** The names are those of the fields in the dashboard. */
export const submissionSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    kind: { type: "string", enum: ["email", "domain"], default: "email", description: "Kind of the items." },
    name: {
      type: "string",
      maxLength: 200,
      default: "list.csv",
      description: "File name; its ending decides the format of the result.",
    },
    column: {
      type: "string",
      maxLength: 100,
      pattern: "^[^\\u0000-\\u001f]*$",
      description: "Name or number of the column with the items; detected by default.",
    },
    delimiter: {
      type: "string",
      enum: [",", ";", "tab", "|", "none"],
      description: "Delimiter of the fields; detected by default.",
    },
    drop: { type: "string", maxLength: 100, description: "Statuses, separated by commas, whose rows are left out." },
    split: { ...flag, description: "Gives each status a file of its own." },
    explain: { ...flag, description: "Adds the columns reason and suggestion." },
    dns: { ...flag, description: "Looks up whether domains receive mail." },
  },
} as const;
