/** Routes of the pages for browsers, which are loaded with the first request for one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Pages for browsers. They read the bodies of their requests themselves. */
export interface Pages {
  handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** Ends what they have started. */
  close(): Promise<void>;
}

export async function dashboardRoutes(
  service: FastifyInstance,
  { load }: { readonly load: () => Promise<Pages> },
): Promise<void> {
  service.removeAllContentTypeParsers();
  service.addContentTypeParser("*", (_request, _payload, done) => done(null));
  for (const url of ["/dashboard", "/dashboard/*"]) {
    service.route({
      ...{ method: ["GET", "POST"], url, config: { readsBody: true }, schema: { hide: true } },
      handler: async (request, reply) => (await load()).handle(request, reply),
    });
  }
}
