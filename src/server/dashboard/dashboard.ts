/** The pages below /dashboard. An application of its own, loaded late: Fastify takes no routes after it listens. */
import formBody from "@fastify/formbody";
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { VNode } from "preact";
import { htmlPage } from "../../core/facts/render/html.js";
import { sendCompressed } from "../compressed.js";
import { access } from "./access.js";
import { assets } from "./assets.js";
import { pageFaults } from "./errors.js";
import { mostFormBytes } from "./form.js";
import type { DashboardOptions } from "./options.js";
import { keyRoutes } from "./routes/keys.js";
import { listRoutes } from "./routes/lists.js";
import { overviewRoutes } from "./routes/overview.js";
import { sessionsRoutes } from "./routes/sessions.js";
import { tryRoutes } from "./routes/try.js";
import { usageRoutes } from "./routes/usage.js";

const securityPolicy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
].join("; ");

export async function openDashboard({ log, ...options }: DashboardOptions) {
  const pages = Fastify({
    loggerInstance: log,
    // The service logs each request.
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: true,
    genReqId: ({ headers }) => String(headers["x-request-id"]),
    routerOptions: { ignoreTrailingSlash: true },
  });
  pages.addHook("onRequest", async ({ id }, reply) => {
    reply.headers({
      "x-request-id": id,
      "content-security-policy": securityPolicy,
      "x-content-type-options": "nosniff",
      // Not no-referrer: with it, browsers send no Origin with a form.
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    });
    reply.type("text/html; charset=utf-8");
    reply.serializer((page: VNode | string) => (typeof page === "string" ? page : htmlPage(page)));
  });
  pages.register(pageFaults);
  pages.register(access, options);
  pages.removeAllContentTypeParsers();
  pages.register(formBody, { bodyLimit: mostFormBytes, parser: (text) => new URLSearchParams(text) as never });
  for (const each of [overviewRoutes, keyRoutes, usageRoutes, tryRoutes, listRoutes, sessionsRoutes])
    pages.register(each, { ...options, prefix: "/dashboard" });
  for (const { path, type, text } of Object.values(assets)) {
    const bytes = Buffer.from(text);
    pages.get(path, { config: { isPublic: true } }, async (request, reply) => {
      reply.header("cache-control", "public, max-age=31536000, immutable");
      return sendCompressed(request, reply.type(type), bytes);
    });
  }
  await pages.ready();
  return {
    async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      reply.hijack();
      pages.routing(request.raw, reply.raw);
    },
    close: () => pages.close(),
  };
}
