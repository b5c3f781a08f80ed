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
import { limitConnections } from "./connections.js";
import type { Metrics } from "./metrics.js";
import { maximumItemLength, openApiDocument, requestSchema } from "./openapi.js";
import { explain, Refusal, refuseBrokenRequest } from "./refusals.js";
import { validateItems } from "./validation.js";

export interface ServiceOptions extends Pick<EmbeddedEngine, "classifier"> {
  readonly store: KeyStore;
  /** Items a request at most. */
  readonly maximumItems: number;
  /** Where pages may come from that call the service; nobody else gets a CORS header. */
  readonly corsOrigins: readonly string[];
  /** Where requests are logged, a line of JSON each; absent for no log. */
  readonly log?: { write(line: string): void };
  readonly metrics: Metrics;
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
    /** How many bytes of its body have arrived. */
    bodyBytes: number;
  }
}

/** Limit on pipelined requests of a connection: answers that are not read are kept in memory. */
const mostPipelined = 100;
/** Limit on open connections. Beyond it the connection that has been idle for longest makes room. */
const mostConnections = 1000;
/** Limit on the bytes of all bodies that have arrived in part: about 20 of the largest, or 8,000 usual ones. */
const mostBodyBytes = 268_435_456;
/** How long an answer of /readyz holds, in milliseconds: nobody needs the disk to be written to more often. */
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

/** A service that is ready to listen. It stops taking requests, and ends those in flight, on `close`. */
export function createService(options: ServiceOptions): FastifyInstance {
  const { store, maximumItems, corsOrigins, log, metrics, now } = options;
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
    logger: log !== undefined && { redact: ["req", "res"], stream: log },
    genReqId: () => crypto.randomUUID(),
    http: { connectionsCheckingInterval: 1000, headersTimeout: 10_000 },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    exposeHeadRoutes: true,
    clientErrorHandler: refuseBrokenRequest,
    // A path that cannot be decoded is one that there is not.
    frameworkErrors: (_error, _request, reply) => (reply as FastifyReply).code(404).send(noSuchPath),
  });
  service.decorateRequest("apiKey", undefined);
  service.decorateRequest("items", 0);
  service.decorateRequest("bodyBytes", 0);
  const connections = limitConnections(service.server, mostConnections, () => metrics.dropped.inc());

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

  /** Bytes of the bodies of all requests that have no answer yet. */
  let bodyBytes = 0;
  // With a callback: the listener has to be there before the body's first bytes.
  service.addHook("preParsing", (request, _reply, payload, done) => {
    payload.on("data", (chunk: Buffer) => {
      request.bodyBytes += chunk.length;
      bodyBytes += chunk.length;
      if (bodyBytes > mostBodyBytes) payload.emit("error", new Refusal(503, "Too many requests at a time."));
    });
    done(null, payload);
  });
  service.addHook("onResponse", async (request) => {
    bodyBytes -= request.bodyBytes;
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
    if (statusCode === 503) reply.header("retry-after", 1);
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
      // Before the body is read: nobody without a key, or without units, has the service keep it.
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
          throw new Refusal(413, `At most ${maximumItems} items a request.`);
        }
      },
      handler: async (request, reply) => {
        // The body may have been long in coming: the key may not be what it was.
        const key = await authorise(request, field);
        const items = [...new Set(request.body[field])];
        request.items = items.length;
        const idempotencyKey = idempotencyKeyOf(request.headers["idempotency-key"]);
        const outcome = await validateItems(options, key, kinds[field], items, {
          idempotencyKey,
          body: request.rawBody,
        });
        if (outcome === "another body") {
          throw new Refusal(422, "This Idempotency-Key came with another body before.");
        }
        if (outcome === "quota is gone") return refuseWithoutUnits(key, reply);
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

  async function authorise(request: FastifyRequest, field: Permission): Promise<ApiKey> {
    const key = await store.find(bearerOf(request.headers.authorization));
    request.apiKey = key;
    if (key === undefined) throw new Refusal(401, "Unauthorized.");
    if (!key.permissions.includes(field)) throw new Refusal(403, `This key may not validate ${field}.`);
    return key;
  }

  function refuseWithoutUnits({ quota: { renewsAt } }: ApiKey, reply: FastifyReply): never {
    metrics.refusals.inc();
    if (renewsAt !== null) reply.header("retry-after", secondsUntil(renewsAt, now()));
    throw new Refusal(429, "No validations are left.");
  }

  let readyUntil = Number.NEGATIVE_INFINITY;
  /** @throws StoreError when the state cannot be read or written */
  async function checkReadiness(): Promise<void> {
    if (performance.now() < readyUntil) return;
    await store.find("");
    await store.checkWritable();
    readyUntil = performance.now() + readinessMilliseconds;
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
