/** The validation service over HTTP: plugins and routes. Fastify is as fast as `node:http` at 1,000 items a request. */
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import swagger from "@fastify/swagger";
import Fastify, { type FastifyInstance, type FastifyReply, LogController } from "fastify";
import type { EmbeddedEngine } from "../../core/validator/validator.js";
import { GroupCommit } from "../../state/group-commit.js";
import { type ApiKey, type Charge, type ChargeOutcome, usageIdOf } from "../../state/service/api-key.js";
import type { ServiceStore } from "../../state/service/service-store.js";
import type { Lists } from "../lists/lists.js";
import type { Metrics } from "./metrics.js";
import { documentOptions, schemas, usualItemLength } from "./openapi.js";
import { access } from "./plugins/access.js";
import { bodyBudget } from "./plugins/body-budget.js";
import { connections } from "./plugins/connections.js";
import { errors } from "./plugins/errors.js";
import { jsonBodies } from "./plugins/json-body.js";
import { observation } from "./plugins/observation.js";
import { noSuchPath, refuseBrokenRequest } from "./refusals.js";
import { dashboardRoutes, type LoadPages } from "./routes/dashboard.js";
import { listRoutes } from "./routes/lists.js";
import { type PageFiles, pageRoutes } from "./routes/page.js";
import { probeRoutes } from "./routes/probes.js";
import { usageRoutes } from "./routes/usage.js";
import { judgingWith, validateRoutes } from "./routes/validate.js";
import { warehouseRoutes } from "./routes/warehouses.js";
import type { RequestMailCheck } from "./validation.js";

export interface ServiceOptions extends Pick<EmbeddedEngine, "classifier"> {
  readonly store: ServiceStore;
  readonly mailCheck?: () => RequestMailCheck;
  readonly maximumItems: number;
  readonly corsOrigins: readonly string[];
  /** One line of JSON per request. */
  readonly log?: { write(line: string): void };
  readonly metrics: Metrics;
  readonly lists?: Lists | undefined;
  readonly page?: PageFiles | undefined;
  /** Loads the pages below /dashboard, at the first request for one. */
  readonly loadDashboard?: LoadPages;
}

/** Budget of all bodies: about 30 of the largest ones, or 4,000 usual ones. */
const budget = { bytes: 134_217_728, milliseconds: 30_000 };
const uploadMilliseconds = 1_800_000;

/** `close` lets the requests in flight finish. */
export function createService(options: ServiceOptions): FastifyInstance {
  const { store, classifier, mailCheck, maximumItems, corsOrigins, metrics, lists, page, loadDashboard } = options;
  // 4 bytes a character, and quotes and a comma. All escaped, at 12 bytes each, would keep the thread for 150 ms.
  const bodyLimit = maximumItems * (4 * usualItemLength + 3) + 1024;
  const service = newServer(options, bodyLimit);
  const charges = new GroupCommit<Charge, ChargeOutcome>((group) => metrics.timed("charge", store.chargeAll(group)));
  const till = {
    // The charges of one quota wait for each other in the database.
    charge: (charge: Charge, { id, quotaName }: ApiKey) =>
      charges.add(charge, store.isServer ? usageIdOf(quotaName === null ? { keyId: id } : { quotaName }) : ""),
    hasAnswer: (keyId: string, idempotencyKey: string) => store.hasAnswer(keyId, idempotencyKey),
  };
  const judges = () => ({ till, classifier, mailCheck: mailCheck?.() });

  service.register(connections, { onDrop: () => metrics.dropped.inc() });
  service.register(observation, { metrics });
  service.register(jsonBodies, { maximumItems });
  service.register(bodyBudget, budget);
  if (corsOrigins.length > 0) service.register(cors, corsOptions(corsOrigins));
  service.register(errors, { maximumItems, bodyLimit });
  service.register(access, { store, metrics });
  for (const schema of schemas) service.addSchema(schema);
  service.register(swagger, documentOptions);
  const judging = judgingWith({ store, judges, metrics });
  service.register(validateRoutes, { maximumItems, judging });
  service.register(warehouseRoutes, { maximumItems, judging });
  if (lists) service.register(listRoutes, { lists, store, refuse: judging.refuse });
  service.register(usageRoutes, { store });
  service.register(probeRoutes, { store, metrics });
  if (page) service.register(pageRoutes, { files: page });
  if (loadDashboard) service.register(dashboardRoutes, { load: loadDashboard });
  return service;
}

function newServer({ log, lists, loadDashboard }: ServiceOptions, bodyLimit: number): FastifyInstance {
  const service = Fastify({
    bodyLimit,
    // Limit for lists; `bodyBudget` sets a shorter one for JSON.
    requestTimeout: lists || loadDashboard ? uploadMilliseconds : budget.milliseconds,
    // Also closes the connections of clients that do not read their responses.
    connectionTimeout: 30_000,
    keepAliveTimeout: 30_000,
    forceCloseConnections: "idle",
    // Requests that have begun to arrive are still answered during shutdown.
    return503OnClosing: false,
    // Fastify's own request log would contain raw paths, in which clients can put anything.
    logController: new LogController({ disableRequestLogging: true }),
    logger: log !== undefined && { redact: ["req", "res"], stream: log },
    genReqId: ({ headers }) => {
      const given = headers["x-request-id"];
      return typeof given === "string" && /^[\w.:-]{1,100}$/.test(given) ? given : crypto.randomUUID();
    },
    // Node would answer without a body.
    http: { connectionsCheckingInterval: 1000, headersTimeout: 10_000, requireHostHeader: false },
    // The schemas are ours, and the tests check them: to check them again took a seventh of a start.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, verbose: true, validateSchema: false } },
    exposeHeadRoutes: true,
    clientErrorHandler: refuseBrokenRequest,
    // A path that cannot be decoded is treated as unknown.
    frameworkErrors: (_error, _request, reply) => (reply as FastifyReply).code(404).send(noSuchPath),
  });
  service.setSerializerCompiler(() => (data) => JSON.stringify(data));
  return service;
}

const corsOptions = (origins: readonly string[]): FastifyCorsOptions => {
  const allowed = {
    origin: true,
    methods: ["POST", "GET", "DELETE"],
    allowedHeaders: ["Authorization", "Content-Type", "Idempotency-Key"],
    exposedHeaders: ["Location", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
    // Chrome remembers no longer.
    maxAge: 7200,
  };
  return {
    delegator: ({ headers: { origin = "" } }, callback) =>
      callback(null, origins.includes(origin) ? allowed : { origin: false }),
  };
};
