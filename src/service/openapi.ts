/** The interface of the service as schemas: bodies are checked against them, and the OpenAPI document is made from them. */

import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";

/** Limit on the length of an item in characters. Addresses have at most 254 octets, domains 253. */
export const maximumItemLength = 1000;

const errors: Readonly<Record<string, string>> = {
  400: "The request is invalid; the message says why.",
  401: "The key is missing, malformed, unknown, revoked or expired.",
  403: "The key lacks the permission for this operation.",
  413: "Too many items, or the body is too large.",
  415: "The Content-Type is not application/json.",
  422: "The Idempotency-Key was already used with a different body.",
  429: "No units are left. If the quota renews, Retry-After is the number of seconds until then.",
  503: "The state cannot be used, or there are too many requests. Retry-After is the number of seconds to wait.",
};

const rateLimitHeaders = {
  "RateLimit-Policy":
    "Quota in units (q) and its period in seconds (w, absent if it never renews). Absent if the key has no limit.",
  RateLimit:
    "Units left (r) and seconds until the quota renews (t, absent if never). Absent if the key has no limit.",
};

export function requestSchema(field: string) {
  return {
    type: "object",
    required: [field],
    properties: {
      [field]: {
        type: "array",
        items: { type: "string", maxLength: maximumItemLength },
        description: "Items to validate. Repeated items cost one unit.",
      },
      explain: {
        type: "boolean",
        default: false,
        description: "Adds reason and suggestion to each result; null where there is none.",
      },
      flags: {
        type: "boolean",
        default: false,
        description:
          "Adds facts about the item: role, free-provider, no-reply, relay; with DNS parked and mx:NAME.",
      },
      canonical: {
        type: "boolean",
        default: false,
        description: "Adds the form that all spellings of the item have in common; null if it is not valid.",
      },
    },
  } as const;
}

export function answerSchema(field: string, statuses: readonly string[]) {
  const result = {
    type: "object",
    required: ["status"],
    additionalProperties: false,
    properties: {
      status: {
        type: "string",
        enum: statuses,
        description:
          "The verdict; `quota_exceeded` if no units were left for the item, which is then not charged.",
      },
      reason: {
        type: ["string", "null"],
        description: "The rule that decided, usually with its subject: `disposable-domain: mailinator.com`.",
      },
      suggestion: { type: ["string", "null"], description: "The item that was probably meant." },
      flags: {
        type: "array",
        items: { type: "string" },
        description: "Facts that say nothing against the item.",
      },
      canonical: {
        type: ["string", "null"],
        description: "The form that all spellings of the item have in common.",
      },
    },
  };
  return {
    type: "object",
    required: [field],
    additionalProperties: false,
    properties: {
      [field]: {
        type: "object",
        additionalProperties: result,
        description: "Results, keyed by item exactly as sent.",
      },
    },
  };
}

export const errorSchema = {
  type: "object",
  required: ["message"],
  additionalProperties: false,
  properties: { message: { type: "string", description: "What is wrong, in one line." } },
};

export const statusSchema = {
  type: "object",
  required: ["status"],
  additionalProperties: false,
  properties: { status: { const: "ok", description: "Always the same." } },
};

export const jsonOf = (description: string, schema: object) => ({
  description,
  content: { "application/json": { schema } },
});

export const errorResponses = Object.fromEntries(
  Object.entries(errors).map(([code, description]) => [code, jsonOf(description, errorSchema)]),
);

export const rateLimitFields = Object.fromEntries(
  Object.entries(rateLimitHeaders).map(([name, description]) => [name, { description, type: "string" }]),
);

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
  openapi: {
    openapi: "3.1.0",
    info: { title: "Identity validation service", version: "1", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key." } } },
  },
};
