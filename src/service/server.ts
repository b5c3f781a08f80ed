/**
 * HTTP server of the validation service: routes, authentication, limits, CORS, logging and metrics. Items are classified in
 * validation.ts and keys are kept in the store; this file knows neither the rules nor the state.
 */
import type { Socket } from "node:net";
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { canonicalItem } from "../classifier/canonical.js";
import type { Period } from "../store/quota/period.js";
import type { Quota } from "../store/quota/quota.js";
import { GroupCommit } from "../store/state/group-commit.js";
import type {
  ApiKey,
  Charge,
  ChargeOutcome,
  Permission,
  ServiceStore,
} from "../store/state/service-store.js";
import type { EmbeddedEngine, Kind } from "../validator/validator.js";
import { limitBodies } from "./body-limit.js";
import { limitConnections } from "./connections.js";
import { parseBody } from "./json-body.js";
import type { Metrics } from "./metrics.js";
import { maximumItemLength, openApiDocument, requestSchema } from "./openapi.js";
import { explain, Refusal, refuseBrokenRequest, refuseExpectation } from "./refusals.js";
import { explainItems, type RequestMailCheck, type Till, validateItems } from "./validation.js";

export interface ServiceOptions extends Pick<EmbeddedEngine, "classifier"> {
  readonly store: ServiceStore;
  /** Starts the stage that asks DNS for a request; absent for none. */
  readonly mailCheck?: () => RequestMailCheck;
  /** Limit on items per request. */
  readonly maximumItems: number;
  /** Origins whose pages may call the service. Other origins get no CORS headers. */
  readonly corsOrigins: readonly string[];
  /** Request log, one line of JSON per request; absent for no log. */
  readonly log?: { write(line: string): void };
  readonly metrics: Metrics;
  /** Clock in milliseconds since the epoch. */
  readonly now: () => number;
  /** Loads the pages below /dashboard, at their first request; absent for none. */
  readonly loadDashboard?: () => Promise<Pages>;
}

/** Pages for browsers. They read the bodies of their requests themselves. */
export interface Pages {
  handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** Ends what they have started. */
  close(): Promise<void>;
}

/** The body of a request besides its items. */
interface RequestBody {
  readonly explain?: boolean;
  readonly canonical?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the handler reads the body itself. */
    readsBody?: boolean;
  }
  interface FastifyRequest {
    apiKey: ApiKey | undefined;
    /** Body in bytes as received. */
    rawBody: Buffer;
    /** Number of distinct items in the body. */
    items: number;
  }
}

/** Limit on pipelined requests per connection: unread responses are buffered in memory. */
const mostPipelined = 100;
/** Limit on open connections. Beyond it, the connection that has been idle longest is closed. */
const mostConnections = 1000;
/** Limit on the body bytes of all unanswered requests together: about 20 of the largest bodies, or 8,000 usual ones. */
const mostBodyBytes = 268_435_456;
/** Time in which the body of a request, or an upload, must arrive, in milliseconds. */
const [bodyMilliseconds, uploadMilliseconds] = [30_000, 1_800_000];
/** Time for which a successful /readyz check is reused, in milliseconds: each check writes to the disk. */
const readinessMilliseconds = 1000;

const kinds: Readonly<Record<Permission, Kind>> = { emails: "email", domains: "domain" };
const allowedMethods: Readonly<Record<string, string>> = {
  "/emails/validate": "POST",
  "/domains/validate": "POST",
  "/healthz": "GET, HEAD",
  "/readyz": "GET, HEAD",
  "/openapi.json": "GET, HEAD",
  "/metrics": "GET, HEAD",
};

/** Creates the service, which is then ready to listen. Its `close` lets the requests in flight finish. */
export function createService(options: ServiceOptions): FastifyInstance {
  const { store, classifier, maximumItems, corsOrigins, log, metrics, now } = options;
  // JSON can escape a character as \uXXXX\uXXXX: 12 bytes. Quotes and a comma take 3.
  const bodyLimit = maximumItems * (12 * maximumItemLength + 3) + 1024;
  const service = Fastify({
    bodyLimit,
    // Of uploads in the dashboard; other bodies have less.
    requestTimeout: options.loadDashboard ? uploadMilliseconds : bodyMilliseconds,
    // Also closes the connections of clients that do not read their responses.
    connectionTimeout: 30_000,
    keepAliveTimeout: 30_000,
    forceCloseConnections: "idle",
    // Requests that have begun to arrive are still answered during shutdown.
    return503OnClosing: false,
    // Fastify's own request log would contain raw paths, in which clients can put anything.
    logController: new LogController({ disableRequestLogging: true }),
    logger: log !== undefined && { redact: ["req", "res"], stream: log },
    genReqId: () => crypto.randomUUID(),
    // Node would answer without a body.
    http: { connectionsCheckingInterval: 1000, headersTimeout: 10_000, requireHostHeader: false },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    exposeHeadRoutes: true,
    clientErrorHandler: refuseBrokenRequest,
    // A path that cannot be decoded is treated as unknown.
    frameworkErrors: (_error, _request, reply) => (reply as FastifyReply).code(404).send(noSuchPath),
  });
  const charges = new GroupCommit<Charge, ChargeOutcome>(
    (group) => store.chargeAll(group),
    ({ keyId }) => (store.runsSideBySide ? keyId : ""),
  );
  const till: Till = {
    charge: (charge) => charges.add(charge),
    hasAnswer: (keyId, idempotencyKey) => store.hasAnswer(keyId, idempotencyKey),
  };
  service.decorateRequest("apiKey", undefined);
  service.decorateRequest("items", 0);
  const connections = limitConnections(service.server, mostConnections, () => metrics.dropped.inc());

  service.removeAllContentTypeParsers();
  service.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      request.rawBody = body;
      const value = parseBody(body);
      if (value === undefined) throw new Refusal(400, "The body is not valid JSON in UTF-8.");
      return value;
    },
  );

  /** Number of unanswered requests by connection. */
  const pending = new WeakMap<Socket, number>();
  service.addHook("onRequest", async ({ raw: { socket } }, reply) => {
    const count = (pending.get(socket) ?? 0) + 1;
    pending.set(socket, count);
    connections.begin(socket);
    if (count <= mostPipelined) return;
    socket.destroy();
    reply.hijack();
  });
  service.addHook("onResponse", async ({ raw: { socket } }) => {
    const count = (pending.get(socket) ?? 1) - 1;
    pending.set(socket, count);
    if (count === 0) connections.rest(socket);
  });

  service.addHook("onRequest", async ({ raw: { headers, httpVersion } }) => {
    // RFC 9110 §7.2
    if (headers.host === undefined && httpVersion === "1.1")
      throw new Refusal(400, "The Host field is missing.");
  });
  service.server.on("checkExpectation", refuseExpectation);

  limitBodies(service, mostBodyBytes, bodyMilliseconds);

  service.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined || !corsOrigins.includes(origin)) return;
    reply.header("access-control-allow-origin", origin).header("vary", "Origin");
    reply.header("access-control-expose-headers", "RateLimit, RateLimit-Policy, Retry-After");
    if (request.method !== "OPTIONS") return;
    reply.header("access-control-allow-methods", "POST");
    reply.header("access-control-allow-headers", "Authorization, Content-Type, Idempotency-Key");
    await reply.code(204).send();
  });

  service.setErrorHandler((error: FastifyError, request, reply) => {
    const { statusCode, message } = explain(error, maximumItems, bodyLimit);
    if (statusCode === 503) request.log.error({ error: error.message }, "service unavailable");
    if (statusCode === 503) reply.header("retry-after", 1);
    if (statusCode === 500) request.log.error({ error: error.message, stack: error.stack }, "a bug in idv");
    return reply.code(statusCode).send({ message });
  });
  // Runs before the body is read: the response does not depend on it.
  service.addHook("onRequest", async (request, reply) => {
    if (!request.is404) return;
    const allow = allowedMethods[request.url.split("?")[0] ?? ""];
    if (allow === undefined) return reply.code(404).send(noSuchPath);
    return reply
      .code(405)
      .header("allow", allow)
      .send({ message: `Method not allowed; use ${allow}.` });
  });

  let isClosing = false;
  service.addHook("preClose", async () => {
    isClosing = true;
  });
  service.addHook("onSend", async (request, reply, payload) => {
    // Otherwise the connection would stay open after its last response and delay the shutdown.
    if (isClosing) reply.header("connection", "close");
    if (request.apiKey) setRateLimit(reply, request.apiKey.quota, now());
    return payload;
  });
  service.addHook("onResponse", async (request, reply) => {
    // The route, not the raw path: an unknown path may contain anything.
    const path = request.routeOptions.url ?? "unknown";
    const { method, items } = request;
    const { statusCode: status, elapsedTime } = reply;
    metrics.requests.inc({ method, path, status });
    metrics.duration.observe({ path }, elapsedTime / 1000);
    request.log.info({ method, path, status, items, milliseconds: Math.round(elapsedTime) }, "answered");
  });

  for (const field of ["emails", "domains"] as const) {
    service.post<{ Body: RequestBody & Record<string, readonly string[]> }>(`/${field}/validate`, {
      schema: { body: requestSchema(field) },
      // Runs before the body is read: requests without a valid key or without units left must not take up memory.
      onRequest: async (request, reply) => {
        const key = await authorise(request, field);
        if (key.isSandbox || key.quota.left !== 0) return;
        const idempotencyKey = idempotencyKeyOf(request.headers["idempotency-key"]);
        const isAnswered = idempotencyKey !== undefined && (await store.hasAnswer(key.id, idempotencyKey));
        if (!isAnswered) refuseWithoutUnits(key, reply);
      },
      preValidation: async (request) => {
        const items: unknown = request.body?.[field];
        if (Array.isArray(items) && items.length > maximumItems) {
          throw new Refusal(413, `Too many items: at most ${maximumItems} per request.`);
        }
      },
      handler: async (request, reply) => {
        // The charge finds out whether the key was revoked while the body arrived; nothing is charged to a sandbox.
        const key = request.apiKey?.isSandbox === false ? request.apiKey : await authorise(request, field);
        const items = [...new Set(request.body[field])];
        request.items = items.length;
        const idempotencyKey = idempotencyKeyOf(request.headers["idempotency-key"]);
        const kind = kinds[field];
        const judges = { till, classifier, mailCheck: options.mailCheck?.() };
        const outcome = await validateItems(judges, key, kind, items, {
          idempotencyKey,
          body: request.rawBody,
        });
        if (outcome === "another body") {
          throw new Refusal(422, "This Idempotency-Key was already used with a different body.");
        }
        if (outcome === "quota is gone") return refuseWithoutUnits(key, reply);
        if (outcome === "key is gone") throw new Refusal(401, "Unauthorized.");
        request.apiKey = { ...key, quota: outcome.quota };
        const { statuses } = outcome;
        for (const status of statuses) metrics.items.inc({ kind, status });
        const { explain, canonical } = request.body;
        const verdicts = explain ? await explainItems(judges, key, kind, items, statuses) : undefined;
        const isPlain = !explain && !canonical;
        const entries = items.map((item, i) => {
          if (isPlain) return `${JSON.stringify(item)}:${plainResult(statuses[i]!)}`;
          const { reason = null, suggestion = null } = verdicts?.[i] ?? {};
          const result = {
            status: statuses[i],
            ...(explain && { reason, suggestion }),
            ...(canonical && { canonical: canonicalItem(kind, item) ?? null }),
          };
          return `${JSON.stringify(item)}:${JSON.stringify(result)}`;
        });
        // Built as text: an object would lose the item `__proto__` and reorder items such as `1`.
        return reply.type("application/json; charset=utf-8").send(`{"${field}":{${entries.join(",")}}}`);
      },
    });
  }

  /**
   * Returns the key of a request. Also sets `request.apiKey`, from which the RateLimit fields are made.
   *
   * @throws Refusal with 401 for an invalid key, with 403 for a key without the permission
   */
  async function authorise(request: FastifyRequest, field: Permission): Promise<ApiKey> {
    const key = await store.find(bearerOf(request.headers.authorization));
    request.apiKey = key;
    if (key === undefined) throw new Refusal(401, "Unauthorized.");
    if (!key.permissions.includes(field)) throw new Refusal(403, `This key may not validate ${field}.`);
    return key;
  }

  /**
   * Refuses a request because no units are left. Sets Retry-After if the quota renews.
   *
   * @throws Refusal with 429
   */
  function refuseWithoutUnits({ quota: { renewsAt } }: ApiKey, reply: FastifyReply): never {
    metrics.refusals.inc();
    if (renewsAt !== null) reply.header("retry-after", secondsUntil(renewsAt, now()));
    throw new Refusal(429, "No validations are left.");
  }

  let readyUntil = Number.NEGATIVE_INFINITY;
  /**
   * Checks that the state can be read and written, unless a check succeeded within the last second.
   *
   * @throws StoreError
   */
  async function checkReadiness(): Promise<void> {
    if (performance.now() < readyUntil) return;
    await store.find("");
    await store.checkWritable();
    readyUntil = performance.now() + readinessMilliseconds;
  }

  const { loadDashboard } = options;
  if (loadDashboard !== undefined) {
    service.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      for (const url of ["/dashboard", "/dashboard/*"]) {
        scope.route({
          ...{ method: ["GET", "POST"], url, config: { readsBody: true } },
          handler: async (request, reply) => (await loadDashboard()).handle(request, reply),
        });
      }
    });
  }

  const document = openApiDocument({ maximumItems });
  service.get("/healthz", async () => ({ status: "ok" }));
  service.get("/readyz", async () => {
    await checkReadiness();
    return { status: "ok" };
  });
  service.get("/openapi.json", async () => document);
  service.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  return service;
}

const plainResults = new Map<string, string>();

/** Returns the JSON of a result that has only a status: one of a few. */
function plainResult(status: string): string {
  let json = plainResults.get(status);
  if (json === undefined) {
    json = JSON.stringify({ status });
    plainResults.set(status, json);
  }
  return json;
}

const noSuchPath = { message: "No such path." };

/** Returns the secret in an Authorization header, or "", which no key has. */
function bearerOf(authorization: string | undefined): string {
  return /^Bearer +([\x21-\x7e]{1,256})$/i.exec(authorization ?? "")?.[1] ?? "";
}

/**
 * Returns the value of an Idempotency-Key header; undefined when it is absent.
 *
 * @throws Refusal with 400 unless it has 1 to 255 characters
 */
function idempotencyKeyOf(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  const key = String(value);
  if (key === "" || key.length > 255)
    throw new Refusal(400, "Idempotency-Key must have 1 to 255 characters.");
  return key;
}

/** Length of each period in seconds, for RateLimit-Policy. A month counts as 30 days. */
const windowSeconds: Readonly<Record<Period, number | undefined>> = {
  none: undefined,
  hour: 3600,
  day: 86_400,
  month: 2_592_000,
};

/**
 * Sets the RateLimit-Policy and RateLimit headers (draft-ietf-httpapi-ratelimit-headers), unless the key has no limit.
 *
 * @param now milliseconds since the epoch
 */
function setRateLimit(reply: FastifyReply, { limit, left, period, renewsAt }: Quota, now: number): void {
  if (limit === null) return;
  const window = windowSeconds[period];
  reply.header("RateLimit-Policy", `"validations";q=${limit}${window === undefined ? "" : `;w=${window}`}`);
  const until = renewsAt === null ? "" : `;t=${secondsUntil(renewsAt, now)}`;
  reply.header("RateLimit", `"validations";r=${left}${until}`);
}

/** Returns the whole seconds from `now` to `time`, at least 1. Both are in milliseconds since the epoch. */
const secondsUntil = (time: number, now: number): number => Math.max(1, Math.ceil((time - now) / 1000));
