import type { Socket } from "node:net";
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { ApiKey, KeyStore, Permission } from "../store/key-store.js";
import type { Period } from "../store/period.js";
import type { Quota } from "../store/quota.js";
import type { EmbeddedEngine, Kind } from "../validator/validator.js";
import { createMetrics } from "./metrics.js";
import { maximumItemLength, openApiDocument, requestSchema } from "./openapi.js";
import { explain, Refusal, refuseBrokenRequest } from "./refusals.js";
import { validateItems } from "./validation.js";

export interface ServiceOptions extends Pick<EmbeddedEngine, "classifier"> {
  readonly store: KeyStore;
  /** Items a request at most. */
  readonly maximumItems: number;
  /** Where pages may come from that call the service; nobody else gets a CORS header. */
  readonly corsOrigins: readonly string[];
  /** Whether requests are logged, as JSON on standard output. */
  readonly logs: boolean;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
}

declare module "fastify" {
  interface FastifyRequest {
    apiKey: ApiKey | undefined;
    /** The body as it came. */
    rawBody: Buffer;
    /** How many items it asks about. */
    items: number;
  }
}

/** Whoever sends more without reading the answers would have the service keep them. */
const mostPipelined = 100;

const kinds: Readonly<Record<Permission, Kind>> = { emails: "email", domains: "domain" };
const allowedMethods: Readonly<Record<string, string>> = {
  "/emails/validate": "POST",
  "/domains/validate": "POST",
  "/healthz": "GET, HEAD",
  "/readyz": "GET, HEAD",
  "/openapi.json": "GET, HEAD",
  "/metrics": "GET, HEAD",
};

/** A service that is ready to listen. It stops taking requests, and ends those in flight, on `close`. */
export function createService(options: ServiceOptions): FastifyInstance {
  const { store, maximumItems, corsOrigins, logs, now } = options;
  // Each character may be written as a pair of \uXXXX.
  const bodyLimit = maximumItems * (12 * maximumItemLength + 3) + 1024;
  const service = Fastify({
    bodyLimit,
    requestTimeout: 30_000,
    // Also of clients that do not read what they asked for.
    connectionTimeout: 30_000,
    keepAliveTimeout: 30_000,
    forceCloseConnections: "idle",
    // A request that has begun to arrive is finished.
    return503OnClosing: false,
    // Its lines would hold paths as they came.
    logController: new LogController({ disableRequestLogging: true }),
    logger: logs && { redact: ["req", "res"] },
    genReqId: () => crypto.randomUUID(),
    http: { connectionsCheckingInterval: 1000, headersTimeout: 10_000 },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    exposeHeadRoutes: true,
    clientErrorHandler: refuseBrokenRequest,
    // A path that cannot be decoded is one that there is not.
    frameworkErrors: (_error, _request, reply) => (reply as FastifyReply).code(404).send(noSuchPath),
  });
  service.server.maxConnections = 1000;
  service.decorateRequest("apiKey", undefined);
  service.decorateRequest("items", 0);
  const metrics = createMetrics();

  service.removeAllContentTypeParsers();
  service.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      request.rawBody = body;
      try {
        return JSON.parse(utf8.decode(body)) as unknown;
      } catch {
        throw new Refusal(400, "The body is not JSON in UTF-8.");
      }
    },
  );

  /** Requests of a connection that have no answer yet. */
  const pending = new WeakMap<Socket, number>();
  service.addHook("onRequest", async ({ raw: { socket } }, reply) => {
    const count = (pending.get(socket) ?? 0) + 1;
    pending.set(socket, count);
    if (count <= mostPipelined) return;
    socket.destroy();
    reply.hijack();
  });
  service.addHook("onResponse", async ({ raw: { socket } }) => {
    pending.set(socket, (pending.get(socket) ?? 1) - 1);
  });

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
    if (statusCode === 503) request.log.error({ error: error.message }, "the state file cannot be used");
    if (statusCode === 500) request.log.error({ error: error.message, stack: error.stack }, "a bug in idv");
    return reply.code(statusCode).send({ message });
  });
  // Before the body is read: nobody asked for it.
  service.addHook("onRequest", async (request, reply) => {
    if (!request.is404) return;
    const allow = allowedMethods[request.url.split("?")[0] ?? ""];
    if (allow === undefined) return reply.code(404).send(noSuchPath);
    return reply
      .code(405)
      .header("allow", allow)
      .send({ message: `Use ${allow}.` });
  });

  let isClosing = false;
  service.addHook("preClose", async () => {
    isClosing = true;
  });
  service.addHook("onSend", async (request, reply, payload) => {
    // Nobody would end the connection of a request that was in flight.
    if (isClosing) reply.header("connection", "close");
    if (request.apiKey) setRateLimit(reply, request.apiKey.quota, now());
    return payload;
  });
  service.addHook("onResponse", async (request, reply) => {
    // The path as it is known: one that is not may hold anything.
    const path = request.routeOptions.url ?? "unknown";
    const { method, items } = request;
    const { statusCode: status, elapsedTime } = reply;
    metrics.requests.inc({ method, path, status });
    metrics.duration.observe({ path }, elapsedTime / 1000);
    request.log.info({ method, path, status, items, milliseconds: Math.round(elapsedTime) }, "answered");
  });

  for (const field of ["emails", "domains"] as const) {
    service.post<{ Body: Record<string, readonly string[]> }>(`/${field}/validate`, {
      schema: { body: requestSchema(field) },
      // Before the body is looked at: whoever has no key learns nothing.
      onRequest: async (request) => authorise(request, field),
      preValidation: async (request) => {
        const items: unknown = request.body?.[field];
        if (Array.isArray(items) && items.length > maximumItems) {
          throw new Refusal(413, `At most ${maximumItems} items a request.`);
        }
      },
      handler: async (request, reply) => {
        // The body may have been long in coming: the key may not be what it was.
        authorise(request, field);
        const items = [...new Set(request.body[field])];
        request.items = items.length;
        const key = request.apiKey!;
        const idempotencyKey = idempotencyKeyOf(request.headers["idempotency-key"]);
        const outcome = validateItems(options, key, kinds[field], items, {
          idempotencyKey,
          body: request.rawBody,
        });
        if (outcome === "another body") {
          throw new Refusal(422, "This Idempotency-Key came with another body before.");
        }
        if (outcome === "quota is gone") {
          metrics.refusals.inc();
          const { renewsAt } = key.quota;
          if (renewsAt !== null) reply.header("retry-after", secondsUntil(renewsAt, now()));
          throw new Refusal(429, "No validations are left.");
        }
        request.apiKey = { ...key, quota: outcome.quota };
        for (const status of outcome.statuses) metrics.items.inc({ kind: kinds[field], status });
        const entries = items.map(
          (item, i) => `${JSON.stringify(item)}:{"status":${JSON.stringify(outcome.statuses[i])}}`,
        );
        // As text: any string may be a key, also `__proto__`.
        return reply.type("application/json; charset=utf-8").send(`{"${field}":{${entries.join(",")}}}`);
      },
    });
  }

  function authorise(request: FastifyRequest, field: Permission): void {
    request.apiKey = store.find(bearerOf(request.headers.authorization));
    if (request.apiKey === undefined) throw new Refusal(401, "Unauthorized.");
    if (!request.apiKey.permissions.includes(field)) {
      throw new Refusal(403, `This key may not validate ${field}.`);
    }
  }

  const document = openApiDocument({ maximumItems });
  service.get("/healthz", async () => ({ status: "ok" }));
  service.get("/readyz", async () => {
    store.find("");
    return { status: "ok" };
  });
  service.get("/openapi.json", async () => document);
  service.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  return service;
}

const noSuchPath = { message: "No such path." };

const utf8 = new TextDecoder("utf-8", { fatal: true });

function bearerOf(authorization: string | undefined): string {
  return /^Bearer +([\x21-\x7e]{1,256})$/i.exec(authorization ?? "")?.[1] ?? "";
}

function idempotencyKeyOf(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  const key = String(value);
  if (key === "" || key.length > 255) throw new Refusal(400, "Idempotency-Key needs 1 to 255 characters.");
  return key;
}

/** The seconds of a period, for RateLimit-Policy; a month has 30 days there. */
const windowSeconds: Readonly<Record<Period, number | undefined>> = {
  none: undefined,
  hour: 3600,
  day: 86_400,
  month: 2_592_000,
};

/** draft-ietf-httpapi-ratelimit-headers: the policy, and what is left. A key without a limit has no policy. */
function setRateLimit(reply: FastifyReply, { limit, left, period, renewsAt }: Quota, now: number): void {
  if (limit === null) return;
  const window = windowSeconds[period];
  reply.header("RateLimit-Policy", `"validations";q=${limit}${window === undefined ? "" : `;w=${window}`}`);
  const until = renewsAt === null ? "" : `;t=${secondsUntil(renewsAt, now)}`;
  reply.header("RateLimit", `"validations";r=${left}${until}`);
}

const secondsUntil = (time: number, now: number): number => Math.max(1, Math.ceil((time - now) / 1000));
