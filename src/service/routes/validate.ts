/** Routes that validate items. The rules and the charge are in validation.ts. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { canonicalItem } from "../../classifier/canonical.js";
import { flagsOf } from "../../classifier/flags.js";
import type { ApiKey, Permission, ServiceStore } from "../../store/state/service-store.js";
import type { Kind } from "../../validator/validator.js";
import type { Metrics } from "../metrics.js";
import { errorResponses, idempotencyKeySchema, jsonOf, rateLimitFields, schemaOf } from "../openapi.js";
import { secondsUntil } from "../plugins/access.js";
import { Refusal } from "../refusals.js";
import { explainItems, type Judges, validateItems } from "../validation.js";

export interface ValidateOptions {
  readonly store: Pick<ServiceStore, "hasAnswer" | "now">;
  readonly judges: () => Judges;
  readonly maximumItems: number;
  readonly metrics: Pick<Metrics, "items" | "refusals">;
}

interface RequestBody {
  readonly explain?: boolean;
  readonly canonical?: boolean;
  readonly flags?: boolean;
}

type ValidateRequest = FastifyRequest<{ Body: RequestBody & Record<string, readonly string[]> }>;

const operations = [
  { field: "emails", kind: "email", what: "e-mail addresses", name: "ValidateEmails" },
  { field: "domains", kind: "domain", what: "domains", name: "ValidateDomains" },
] as const satisfies readonly {
  readonly field: Permission;
  readonly kind: Kind;
  readonly [other: string]: string;
}[];

export async function validateRoutes(service: FastifyInstance, options: ValidateOptions): Promise<void> {
  const { store, judges, maximumItems, metrics } = options;

  const refuse = (key: ApiKey): never => {
    metrics.refusals.inc();
    return refuseWithoutUnits(key, store.now());
  };

  for (const { field, kind, what, name } of operations) {
    service.post(`/${field}/validate`, {
      schema: {
        summary: `Validates ${what}: at most ${maximumItems} per request; each distinct one costs one unit.`,
        operationId: `validate_${field}`,
        headers: idempotencyKeySchema,
        body: schemaOf(`${name}Request`),
        response: {
          200: {
            ...jsonOf("A status for each distinct item, in the order of submission.", `${name}Response`),
            headers: rateLimitFields,
          },
          ...errorResponses(400, 401, 403, 413, 415, 422, 429, 503),
        },
      },
      // Runs before the body is read: requests without a valid key or without units left must not take up memory.
      onRequest: async (request: ValidateRequest) => {
        const key = await request.authorise(field);
        const idempotencyKey = idempotencyKeyOf(request);
        if (key.isSandbox || key.quota.left !== 0) return;
        const isAnswered = idempotencyKey !== undefined && (await store.hasAnswer(key.id, idempotencyKey));
        if (!isAnswered) refuse(key);
      },
      preValidation: async (request: ValidateRequest) => {
        const items: unknown = request.body?.[field];
        if (Array.isArray(items) && items.length > maximumItems) {
          throw new Refusal(413, `Too many items: at most ${maximumItems} per request.`);
        }
      },
      handler: async (request: ValidateRequest, reply) => {
        // The charge notices a key that was revoked while the body arrived. Sandbox keys are not charged: look them up
        // again.
        const { apiKey, body, rawBody } = request;
        const key = apiKey?.isSandbox === false ? apiKey : await request.authorise(field);
        const items = [...new Set(body[field])];
        request.items = items.length;
        const ours = judges();
        const once = { idempotencyKey: idempotencyKeyOf(request), body: rawBody };
        const outcome = await validateItems(ours, key, kind, items, once);
        if (outcome === "another body") {
          throw new Refusal(422, "This Idempotency-Key was already used with a different body.");
        }
        if (outcome === "quota is gone") return refuse(key);
        if (outcome === "key is gone") throw new Refusal(401, "Unauthorized.");
        request.apiKey = { ...key, quota: outcome.quota };
        const { statuses } = outcome;
        for (const status of statuses) metrics.items.inc({ kind, status });
        const verdicts =
          body.explain || body.flags ? await explainItems(ours, key, kind, items, statuses) : undefined;
        const entries = items.map((item, i) => {
          const isPlain = !verdicts && !body.canonical;
          if (isPlain) return `${JSON.stringify(item)}:${plainResult(statuses[i]!)}`;
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

const plainResults = new Map<string, string>();

function plainResult(status: string): string {
  let json = plainResults.get(status);
  if (json === undefined) {
    json = JSON.stringify({ status });
    plainResults.set(status, json);
  }
  return json;
}

/**
 * @param now milliseconds since the epoch
 * @throws Refusal with 429
 */
export function refuseWithoutUnits({ quota: { renewsAt } }: ApiKey, now: number): never {
  const wait = renewsAt === null ? undefined : secondsUntil(renewsAt, now);
  throw new Refusal(429, "No validations are left.", "quota_exhausted", wait);
}

/** @throws Refusal when the key of the request is too long, or empty */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const value = headers["idempotency-key"];
  if (value === undefined) return undefined;
  const key = String(value);
  if (key === "" || key.length > 255)
    throw new Refusal(400, "Idempotency-Key must have 1 to 255 characters.");
  return key;
}
