/** Routes that validate items. The rules and the charge are in validation.ts. */
import { parse as parseQuery } from "node:querystring";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { canonicalItem } from "../../../core/classifier/canonical.js";
import { flagsOf } from "../../../core/classifier/flags/flags.js";
import type { Kind } from "../../../core/validator/validator.js";
import type { ApiKey, Permission } from "../../../state/service/api-key.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { Refusal } from "../../refusal.js";
import type { Metrics } from "../metrics.js";
import * as openapi from "../openapi.js";
import { secondsUntil } from "../plugins/access.js";
import { tooManyItems } from "../plugins/json-body.js";
import { explainItems, type Judges, mapFairly, validateItems } from "../validation.js";

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

  /** Undefined, without a charge, if no unit is left. */
  const judge = async (
    request: FastifyRequest,
    { field, kind }: { readonly field: Permission; readonly kind: Kind },
    items: readonly string[],
    once: { readonly idempotencyKey: string | undefined; readonly body: Uint8Array },
  ) => {
    // The charge notices a key that was revoked while the body arrived. Sandbox keys are not charged: look them up again.
    const { apiKey } = request;
    const key = apiKey?.isSandbox === false ? apiKey : await request.authorise(field);
    request.items = items.length;
    const ours = judges();
    const outcome = await validateItems(ours, key, kind, items, once);
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
    for (const [status, count] of counts) metrics.items.inc({ kind, status }, count);
    return { statuses, explain: () => explainItems(ours, key, kind, items, statuses) };
  };

  return { refuse, enter, judge };
}

export async function validateRoutes(
  service: FastifyInstance,
  { maximumItems, judging: { refuse, enter, judge } }: JudgingRoutes,
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
        const once = { idempotencyKey: idempotencyKeyOf(request), body: Buffer.from(`${kind} ${item}`) };
        const { statuses, explain } = (await judge(request, { field, kind }, [item], once)) ?? refuse(request.apiKey!);
        const [verdict] = await explain();
        const { reason = null, suggestion = null, mx } = verdict!;
        const details = { canonical: canonicalItem(kind, item) ?? null, flags: flagsOf(kind, item, mx) };
        return reply.send({ [one.parameter]: item, status: statuses[0], reason, suggestion, ...details });
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
        const { body, rawBody } = request;
        const items = [...new Set(body[field])];
        const once = { idempotencyKey: idempotencyKeyOf(request), body: rawBody };
        const { statuses, explain } = (await judge(request, { field, kind }, items, once)) ?? refuse(request.apiKey!);
        const verdicts = body.explain || body.flags ? await explain() : undefined;
        const entries = await mapFairly(items, (item, i) => {
          // The words of statuses need no escapes.
          if (!verdicts && !body.canonical) return `${JSON.stringify(item)}:{"status":"${statuses[i]}"}`;
          const { reason = null, suggestion = null, mx } = verdicts?.[i] ?? {};
          const result = {
            status: statuses[i],
            ...(body.explain && { reason, suggestion }),
            ...(body.flags && { flags: flagsOf(kind, item, mx) }),
            ...(body.canonical && { canonical: canonicalItem(kind, item) ?? null }),
          };
          return `${JSON.stringify(item)}:${JSON.stringify(result)}`;
        });
        // Built as text: an object would lose the item `__proto__` and reorder items such as `1`.
        return reply.type("application/json; charset=utf-8").send(`{"${field}":{${entries.join(",")}}}`);
      },
    });
  }
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
