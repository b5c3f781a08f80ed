/** Routes of the pages for browsers, which are loaded with the first request for one. */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** The pages read the bodies of their requests and send the responses themselves. */
export type Pages = { handle(request: FastifyRequest, reply: FastifyReply): Promise<void>; close(): Promise<void> };

export type LoadPages = (log: FastifyBaseLogger) => Promise<Pages>;

export async function dashboardRoutes(service: FastifyInstance, { load }: { readonly load: LoadPages }): Promise<void> {
  service.removeAllContentTypeParsers();
  service.addContentTypeParser("*", (_request, _payload, done) => done(null));
  for (const url of ["/dashboard", "/dashboard/*"]) {
    service.route({
      method: ["GET", "POST"],
      url,
      config: { readsBody: true },
      schema: { hide: true },
      handler: async (request, reply) => (await load(service.log)).handle(request, reply),
    });
  }
}
