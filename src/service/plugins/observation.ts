/** Counts and logs the requests. */
import plugin from "fastify-plugin";
import type { Metrics } from "../metrics.js";

export const observation = plugin<{ readonly metrics: Metrics }>(async (service, { metrics }) => {
  service.decorateRequest("items", 0);
  service.addHook("onResponse", async (request, reply) => {
    // The route, not the raw path: an unknown path may contain anything.
    const path = request.routeOptions.url ?? "unknown";
    const { method, items } = request;
    const { statusCode: status, elapsedTime } = reply;
    metrics.requests.inc({ method, path, status });
    metrics.duration.observe({ path }, elapsedTime / 1000);
    request.log.info({ method, path, status, items, milliseconds: Math.round(elapsedTime) }, "answered");
  });
});

declare module "fastify" {
  interface FastifyRequest {
    items: number;
  }
}
