/** The interface of the service as schemas: bodies are checked against them, and the OpenAPI document is made from them. */
import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { itemFlags } from "../../core/classifier/flags/flag-names.js";
import { statusWords } from "../../core/validator/statuses.js";
import { knownStatuses } from "../../core/validator/validator.js";
import { arrayOf, integer, mapOf, namedBodies, oneOf, record, text, textOrNull } from "./body-schemas.js";
import { errorCodes } from "./error-codes.js";

/** Characters of an item for which a body has room. A longer item is not refused: it is fake. */
export const usualItemLength = 1000;

const errors: Readonly<Record<string, string>> = {
  400: "The request is invalid; the message says why.",
  401: "The key is missing, malformed, unknown, revoked or expired. WWW-Authenticate names the scheme, Bearer.",
  403: "The key lacks the permission for this operation.",
  409: "The Idempotency-Key belongs to a list that is still arriving, or was removed just now.",
  410: "The list was removed while it arrived.",
  413: "Too many items, or the body is too large.",
  415: "The Content-Type is not application/json, or the body is compressed.",
  422: "The Idempotency-Key was already used with a different body.",
  429: "With the code quota_exhausted, no units are left, and Retry-After is the number of seconds until the quota renews, if it does. With rate_limited, there were too many requests, and Retry-After is the number of seconds to wait. With too_many_lists, the key or the service has too many lists.",
  507: "There is no room for the list.",
  503: "The state cannot be used, or there are too many requests. Retry-After is the number of seconds to wait.",
};

/** Schemas by the names that generated clients give their types. Answers may get more fields. */
const named = {
  Error: {
    type: "object",
    required: ["message"],
    properties: {
      message: text("What is wrong, in one line."),
      code: oneOf(errorCodes, "The reason, for programs. Absent in a 401."),
    },
  },
  Health: record({ status: { const: "ok", description: "Always ok." } }),
  Usage: record({
    units: integer("Units that were charged in the whole time."),
    usage: arrayOf(
      "One entry for each span and kind with usage.",
      record({
        start: { ...text("Start of the span."), format: "date-time" },
        kind: text("Kind of the items: email or domain."),
        units: integer("Units that were charged."),
        statuses: mapOf(
          { type: "integer" },
          "Items by status; quota_exceeded ones are not charged. Those of runs, and of lists in which items repeat, are unknown.",
        ),
      }),
    ),
  }),
  Index: record({
    service: text("Always idv."),
    document: text("Path of the OpenAPI document."),
    paths: mapOf({ type: "string" }, "A sentence for each method and path."),
  }),
  ...namedBodies,
  ...validationSchemas("emails", "Email", "address"),
  ...validationSchemas("domains", "Domain", "domain"),
};

export type SchemaName = keyof typeof named;

export const schemas = Object.entries(named).map(([$id, schema]) => ({ $id, ...schema }));

export const schemaOf = (name: SchemaName) => ({ $ref: `${name}#` });

function validationSchemas<Name extends "Email" | "Domain">(field: string, name: Name, item: string) {
  const statuses = knownStatuses.filter((status) => name === "Email" || status !== "alias");
  const meanings = statuses.map((status) => `\`${status}\`: ${statusWords[status].meaning}`).join("; ");
  const option = (description: string) => ({ type: "boolean", default: false, description });
  return {
    [`Checked${name}`]: record({
      [item]: text("The item as it was sent."),
      status: oneOf(statuses, "The verdict."),
      reason: textOrNull("The rule that decided, usually with its subject."),
      suggestion: textOrNull(`The ${name.toLowerCase()} that was probably meant.`),
      canonical: textOrNull("The form that all spellings have in common."),
      flags: arrayOf("Facts that say nothing against it.", { type: "string" }),
    }),
    [`Validate${name}sRequest`]: {
      type: "object",
      required: [field],
      additionalProperties: false,
      properties: {
        [field]: arrayOf("Items to validate. Repeated items cost one unit.", { type: "string" }),
        // An example of the interface document has the field of the other operation.
        [field === "emails" ? "domains" : "emails"]: { description: "Ignored." },
        explain: option("Adds reason and suggestion to each result; null where there is none."),
        flags: option(`Adds facts about the item: ${itemFlags.join(", ")}; with DNS parked and mx:NAME.`),
        canonical: option("Adds the form that all spellings of the item have in common; null if it is not valid."),
      },
    },
    [`${name}Result`]: {
      type: "object",
      required: ["status"],
      properties: {
        status: oneOf(statuses, `The verdict. ${meanings}. An item that is not checked is not charged.`),
        reason: textOrNull("The rule that decided, usually with its subject: `disposable-domain: mailinator.com`."),
        suggestion: textOrNull("The item that was probably meant."),
        flags: arrayOf("Facts that say nothing against the item.", { type: "string" }),
        canonical: textOrNull("The form that all spellings of the item have in common."),
      },
    },
    [`Validate${name}sResponse`]: record({
      [field]: mapOf({ $ref: `${name}Result#` }, "Results, keyed by item exactly as sent."),
    }),
  } as Record<`Validate${Name}s${"Request" | "Response"}` | `${Name}Result` | `Checked${Name}`, object>;
}

export const noQuery = { type: "object", additionalProperties: false, properties: {} } as const;

export const jsonOf = (description: string, name: SchemaName | undefined) => ({
  description,
  content: { "application/json": { schema: name === undefined ? { type: "object" } : schemaOf(name) } },
});

export const errorResponses = (...codes: readonly number[]) =>
  Object.fromEntries(codes.map((code) => [code, jsonOf(errors[code]!, "Error")]));

const policy =
  "Quota in units (q) and its period in seconds (w, absent if it never renews), and the rate of requests. Absent without limits.";
const left = "Units left (r) and seconds until the quota renews (t, absent if never). Absent if the key has no limit.";
export const rateLimitFields = { "RateLimit-Policy": text(policy), RateLimit: text(left) };

export const idempotencyKeySchema = {
  type: "object",
  properties: {
    "Idempotency-Key": {
      type: "string",
      minLength: 1,
      maxLength: 255,
      description:
        "A text that identifies the request. The same request again within 24 hours gets the same answer and is not charged; another body with the same key gets 422.",
    },
  },
} as const;

export const documentOptions: FastifyDynamicSwaggerOptions = {
  refResolver: { buildLocalReference: ({ $id }) => String($id) },
  openapi: {
    openapi: "3.1.0",
    info: { title: "Identity validation service", version: "1", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key." } } },
  },
};
