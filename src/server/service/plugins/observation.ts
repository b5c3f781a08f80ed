/** Counts and logs the requests. */
import type { FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import type { Metrics } from "../metrics.js";

export const observation = plugin<{ readonly metrics: Metrics }>(async (service, { metrics }) => {
  service.decorateRequest("items", 0);
  service.addHook("onRequest", async ({ id, raw }, reply) => {
    reply.header("x-request-id", id);
    // For the pages, which get the raw request.
    raw.headers["x-request-id"] = id;
  });
  service.addHook("onResponse", async (request, reply) => {
    // The route, not the raw path: an unknown path may contain anything.
    const path = request.routeOptions.url ?? "unknown";
    const { method, items } = request;
    const { statusCode: status, elapsedTime } = reply;
    metrics.requests.inc({ method, path, status });
    metrics.duration.observe({ path }, elapsedTime / 1000);
    const key = request.apiKey && { key: request.apiKey.id };
    const milliseconds = Math.round(elapsedTime);
    request.log.info({ method, path, status, items, milliseconds, ...key, ...traceOf(request) }, "answered");
  });
});

/** Returns the ids in a `traceparent` field: https://www.w3.org/TR/trace-context/#traceparent-header */
function traceOf({ headers }: FastifyRequest) {
  const [, traceId, parentId] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-|$)/.exec(String(headers["traceparent"])) ?? [];
  return traceId === undefined ? undefined : { traceId, parentId };
}

declare module "fastify" {
  interface FastifyRequest {
    items: number;
  }
}
