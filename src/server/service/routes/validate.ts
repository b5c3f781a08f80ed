/** Routes that validate items. The rules and the charge are in validation.ts. */
import { parse as parseQuery } from "node:querystring";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { canonicalItem } from "../../../core/classifier/canonical.js";
import { flagsOf } from "../../../core/classifier/flags/flags.js";
import type { ApiKey, Permission } from "../../../state/service/api-key.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { Refusal } from "../../refusal.js";
import type { Metrics } from "../metrics.js";
import * as openapi from "../openapi.js";
import { secondsUntil } from "../plugins/access.js";
import { parseBody, tooManyItems } from "../plugins/json-body.js";
import { answerItems, type ItemRequest, type Judges, mapFairly, type Render } from "../validation.js";

interface JudgingOptions {
  readonly store: Pick<ServiceStore, "hasAnswer" | "now">;
  readonly judges: () => Judges;
  readonly metrics: Pick<Metrics, "items" | "refusals">;
}

export type JudgingRoutes = { readonly maximumItems: number; readonly judging: ReturnType<typeof judgingWith> };

type RequestBody = { readonly explain?: boolean; readonly canonical?: boolean; readonly flags?: boolean };

type ValidateRequest = FastifyRequest<{ Body: RequestBody & Record<string, readonly string[]> }>;

export const operations = [
  {
    field: "emails",
    kind: "email",
    what: "e-mail addresses",
    name: "Email",
    one: { parameter: "address", what: "an e-mail address" },
  },
  { field: "domains", kind: "domain", what: "domains", name: "Domain", one: { parameter: "domain", what: "a domain" } },
] as const;

export function judgingWith({ store, judges, metrics }: JudgingOptions) {
  const refuse = (key: ApiKey): never => {
    metrics.refusals.inc();
    return refuseWithoutUnits(key, store.now());
  };

  /** Refuses a request before its body takes up memory. */
  const enter = async (request: FastifyRequest, field: Permission) => {
    const key = await request.authorise(field);
    const idempotencyKey = idempotencyKeyOf(request);
    if (key.isSandbox || key.quota.left !== 0) return;
    const isAnswered = idempotencyKey !== undefined && (await store.hasAnswer(key.id, idempotencyKey));
    if (!isAnswered) refuse(key);
  };

  /** Returns what `render` makes of the verdicts; undefined, without a charge, if no unit is left. */
  const answer = async <Answer>(
    request: FastifyRequest,
    field: Permission,
    wanted: ItemRequest,
    render: Render<Answer>,
  ): Promise<Answer | undefined> => {
    // The charge notices a key that was revoked while the body arrived. Sandbox keys are not charged: look them up again.
    const { apiKey } = request;
    const key = apiKey?.isSandbox === false ? apiKey : await request.authorise(field);
    const outcome = await answerItems(judges(), key, wanted, render);
    if (outcome === "another body") {
      throw new Refusal(422, "This Idempotency-Key was already used with a different body.");
    }
    if (outcome === "quota is gone") {
      request.apiKey = { ...key, quota: { ...key.quota, left: 0 } };
      return undefined;
    }
    if (outcome === "key is gone") throw new Refusal(401, "Unauthorized.");
    request.apiKey = { ...key, quota: outcome.quota };
    const { statuses } = outcome;
    const counts = new Map<string, number>();
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    for (const [status, count] of counts) metrics.items.inc({ kind: wanted.kind, status }, count);
    return outcome.answer;
  };

  return { refuse, enter, answer };
}

export async function validateRoutes(
  service: FastifyInstance,
  { maximumItems, judging: { refuse, enter, answer } }: JudgingRoutes,
): Promise<void> {
  for (const { field, kind, what, name, one } of operations) {
    service.get(`/${field}/check`, {
      // The answer to HEAD has no verdict.
      exposeHeadRoute: false,
      schema: {
        summary: `Validates ${one.what}, for one unit. Proxies may log the query; a POST body is not logged.`,
        operationId: `check_${field.slice(0, -1)}`,
        headers: openapi.idempotencyKeySchema,
        querystring: {
          type: "object",
          required: [one.parameter],
          additionalProperties: false,
          properties: {
            [one.parameter]: { type: "string", description: `${one.what[0]!.toUpperCase()}${one.what.slice(1)}.` },
          },
        },
        response: {
          200: { ...openapi.jsonOf("The verdict.", `Checked${name}`), headers: openapi.rateLimitFields },
          ...openapi.errorResponses(400, 401, 403, 422, 429, 503),
        },
      },
      onRequest: (request) => enter(request, field),
      preValidation: async (request) => {
        // A plus is part of many addresses, and stands for a blank in forms only.
        const [, query = ""] = /\?(.*)/s.exec(request.raw.url ?? "") ?? [];
        request.query = parseQuery(query.replaceAll("+", "%2B"));
      },
      handler: async (request, reply) => {
        const item = (request.query as Readonly<Record<string, string>>)[one.parameter]!;
        request.items = 1;
        const body = Buffer.from(`${kind} ${item}`);
        const idempotencyKey = idempotencyKeyOf(request);
        const wanted = { kind, idempotencyKey, body, hasDetails: true, items: () => [item] };
        const found = await answer(request, field, wanted, async (_, [verdict]) => {
          const { status, reason = null, suggestion = null, mx } = verdict!;
          const details = { canonical: canonicalItem(kind, item) ?? null, flags: flagsOf(kind, item, mx) };
          return { [one.parameter]: item, status, reason, suggestion, ...details };
        });
        return reply.send(found ?? refuse(request.apiKey!));
      },
    });
    service.post(`/${field}/validate`, {
      schema: {
        summary: `Validates ${what}: at most ${maximumItems} per request; each distinct one costs one unit.`,
        operationId: `validate_${field}`,
        headers: openapi.idempotencyKeySchema,
        querystring: openapi.noQuery,
        body: { content: { "application/json": { schema: openapi.schemaOf(`Validate${name}sRequest`) } } },
        response: {
          200: {
            description: "A status for each distinct item, in the order of submission.",
            content: { "application/json": { schema: openapi.schemaOf(`Validate${name}sResponse`) } },
            headers: openapi.rateLimitFields,
          },
          ...openapi.errorResponses(400, 401, 403, 413, 415, 422, 429, 503),
        },
      },
      onRequest: (request: ValidateRequest) => enter(request, field),
      preValidation: async (request: ValidateRequest) => {
        const items: unknown = request.body?.[field];
        if (Array.isArray(items) && items.length > maximumItems) throw tooManyItems(maximumItems);
      },
      handler: async (request: ValidateRequest, reply) => {
        const { explain = false, flags = false, canonical = false } = request.body;
        const hasDetails = explain || flags || canonical;
        const idempotencyKey = idempotencyKeyOf(request);
        const takeItems = () => {
          const items = [...new Set(takeBody(request, maximumItems)[field])];
          request.items = items.length;
          return items;
        };
        const wanted = { kind, idempotencyKey, body: request.rawBody, hasDetails, items: takeItems };
        const text = await answer(request, field, wanted, async (items, verdicts) => {
          const entries = await mapFairly(items, (item, i) => {
            const { status, reason = null, suggestion = null, mx } = verdicts[i]!;
            // The words of statuses need no escapes.
            if (!hasDetails) return `${JSON.stringify(item)}:{"status":"${status}"}`;
            const result = {
              status,
              ...(explain && { reason, suggestion }),
              ...(flags && { flags: flagsOf(kind, item, mx) }),
              ...(canonical && { canonical: canonicalItem(kind, item) ?? null }),
            };
            return `${JSON.stringify(item)}:${JSON.stringify(result)}`;
          });
          // Built as text: an object would lose the item `__proto__` and reorder items such as `1`.
          return `{"${field}":{${entries.join(",")}}}`;
        });
        return reply.type("application/json; charset=utf-8").send(text ?? refuse(request.apiKey!));
      },
    });
  }
}

/** Returns the body, and frees its memory; when it is taken again, it is parsed again. */
function takeBody(request: ValidateRequest, maximumItems: number): ValidateRequest["body"] {
  const body = request.body ?? (parseBody(request.rawBody, maximumItems) as ValidateRequest["body"]);
  request.body = undefined!;
  return body;
}

function refuseWithoutUnits({ quota: { renewsAt } }: ApiKey, now: number): never {
  const retryAfter = renewsAt === null ? undefined : secondsUntil(renewsAt, now);
  throw new Refusal(429, "No validations are left.", { code: "quota_exhausted", retryAfter });
}

export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const value = headers["idempotency-key"];
  if (value === undefined) return undefined;
  const key = String(value);
  if (key === "" || key.length > 255) throw new Refusal(400, "Idempotency-Key must have 1 to 255 characters.");
  return key;
}
