/** Routes for those who run the service: health, readiness, metrics, and the document of the interface. */
import type { FastifyInstance } from "fastify";
import { reportPolicy, servedPolicy } from "../../../core/facts/render/html.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import type { Metrics } from "../metrics.js";
import { jsonOf } from "../openapi.js";

type ProbeOptions = { readonly store: Pick<ServiceStore, "findAll" | "checkWritable">; readonly metrics: Metrics };

/** A successful /readyz check is reused for this time: each check writes to the disk. */
const readinessMilliseconds = 1000;

export async function probeRoutes(service: FastifyInstance, { store, metrics }: ProbeOptions): Promise<void> {
  const describe = (operationId: string, summary: string, response: object) => ({
    schema: { operationId, summary, security: [], response },
  });
  const healthy = jsonOf("The check passed.", "Health");
  service.get("/healthz", describe("health", "Checks that the process is running.", { 200: healthy }), async () => ({
    status: "ok",
  }));

  let readyUntil = Number.NEGATIVE_INFINITY;
  const readiness = { 200: healthy, 503: jsonOf("The check failed.", "Error") };
  service.get(
    "/readyz",
    describe("readiness", "Checks that the state can be read and written.", readiness),
    async () => {
      if (performance.now() >= readyUntil) {
        await store.findAll([""]);
        await store.checkWritable();
        readyUntil = performance.now() + readinessMilliseconds;
      }
      return { status: "ok" };
    },
  );

  const document = { 200: jsonOf("OpenAPI 3.1.", undefined) };
  service.get("/openapi.json", describe("document", "Returns the OpenAPI document.", document), async () =>
    service.swagger(),
  );

  service.get(
    "/",
    describe("index", "Lists the paths.", { 200: jsonOf("The paths.", "Index") }),
    async (request, reply) => {
      const { paths = {} } = service.swagger() as { readonly paths?: Readonly<Record<string, object>> };
      const operations = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods as Readonly<Record<string, { readonly summary?: string }>>)
          .filter(([method]) => method !== "head")
          .map(([method, { summary = "" }]) => [`${method.toUpperCase()} ${path}`, summary] as const),
      );
      const index = Object.fromEntries(operations);
      reply.header("vary", "Accept");
      if (!/\btext\/html\b/.test(request.headers.accept ?? ""))
        return { service: "idv", document: "/openapi.json", paths: index };
      const { indexPage } = await import("../index-page.js");
      const has = (url: string) => service.hasRoute({ method: "GET", url });
      return reply
        .type("text/html; charset=utf-8")
        .headers({ "content-security-policy": servedPolicy(reportPolicy), "x-content-type-options": "nosniff" })
        .send(indexPage({ paths: index, hasDashboard: has("/dashboard"), hasPage: has("/try/") }));
    },
  );

  const text = { description: "Prometheus text format.", content: { "text/plain": { schema: { type: "string" } } } };
  const summary = "Returns counts of requests, items and refusals, and request durations.";
  service.get("/metrics", describe("metrics", summary, { 200: text }), async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
