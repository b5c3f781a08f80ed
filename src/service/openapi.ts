import { knownStatuses } from "../validator/validator.js";

/** What the document is made for. */
export interface ServiceLimits {
  /** Items a request at most. */
  readonly maximumItems: number;
}

/** In characters: what is longer is no address (254 octets) and no domain (253). */
export const maximumItemLength = 1000;

const operations = [
  { field: "emails", what: "e-mail addresses", statuses: knownStatuses },
  { field: "domains", what: "domains", statuses: knownStatuses.filter((status) => status !== "alias") },
] as const;

const errors: Readonly<Record<string, string>> = {
  400: "The body is not what it should be; the message names the field.",
  401: "The key is missing, malformed, unknown, revoked or expired.",
  403: "The key may not be used for this.",
  413: "Too many items, or too many bytes.",
  415: "The body is not application/json.",
  422: "The Idempotency-Key came with another body before.",
  429: "No validations are left. Retry-After says for how long, if the quota renews.",
  503: "The service cannot use its state.",
};

const rateLimitHeaders = {
  "RateLimit-Policy":
    "The size of the quota (q) and its period in seconds (w); absent where there is no limit.",
  RateLimit: "What is left (r), and in how many seconds it renews (t); absent where there is no limit.",
};

/** The body of a request: `{"emails": ["..."]}`. */
export function requestSchema(field: string) {
  return {
    type: "object",
    required: [field],
    properties: {
      [field]: { type: "array", items: { type: "string", maxLength: maximumItemLength } },
    },
  } as const;
}

/** The body of an answer: `{"emails": {"...": {"status": "..."}}}`. */
function answerSchema(field: string, statuses: readonly string[]) {
  const result = {
    type: "object",
    required: ["status"],
    additionalProperties: false,
    properties: { status: { type: "string", enum: statuses } },
  };
  return {
    type: "object",
    required: [field],
    additionalProperties: false,
    properties: { [field]: { type: "object", additionalProperties: result } },
  };
}

const errorSchema = {
  type: "object",
  required: ["message"],
  additionalProperties: false,
  properties: { message: { type: "string" } },
};

const statusSchema = {
  type: "object",
  required: ["status"],
  additionalProperties: false,
  properties: { status: { const: "ok" } },
};

/** The service's OpenAPI 3.1 document. */
export function openApiDocument({ maximumItems }: ServiceLimits) {
  const json = (schema: object) => ({ content: { "application/json": { schema } } });
  const get = (operationId: string, summary: string, responses: object) => ({
    get: { operationId, summary, security: [], responses },
  });
  const healthy = { description: "Yes.", ...json(statusSchema) };
  const paths = operations.map(({ field, what, statuses }) => [
    `/${field}/validate`,
    {
      post: {
        summary: `Validates ${what}, at most ${maximumItems} a request, one unit each.`,
        operationId: `validate_${field}`,
        parameters: [
          {
            name: "Idempotency-Key",
            in: "header",
            required: false,
            schema: { type: "string", maxLength: 255 },
          },
        ],
        requestBody: { required: true, ...json(requestSchema(field)) },
        responses: {
          200: {
            description: "A status for each distinct item, in the order in which they were submitted.",
            headers: Object.fromEntries(
              Object.entries(rateLimitHeaders).map(([name, description]) => [
                name,
                { description, schema: { type: "string" } },
              ]),
            ),
            ...json(answerSchema(field, statuses)),
          },
          ...Object.fromEntries(
            Object.entries(errors).map(([code, description]) => [
              code,
              { description, ...json(errorSchema) },
            ]),
          ),
        },
      },
    },
  ]);
  return {
    openapi: "3.1.0",
    info: { title: "Identity validation service", version: "1", license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    paths: {
      ...Object.fromEntries(paths),
      "/healthz": get("health", "Whether the process lives.", { 200: healthy }),
      "/readyz": get("readiness", "Whether it can answer: the keys can be read.", {
        200: healthy,
        503: { description: "No.", ...json(errorSchema) },
      }),
      "/openapi.json": get("document", "This document.", {
        200: { description: "OpenAPI 3.1.", ...json({ type: "object" }) },
      }),
      "/metrics": get("metrics", "Counts of requests, items and refusals, and how long requests took.", {
        200: {
          description: "The Prometheus text format.",
          content: { "text/plain": { schema: { type: "string" } } },
        },
      }),
    },
  };
}
