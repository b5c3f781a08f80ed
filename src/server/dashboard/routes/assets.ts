/** Style and script of the pages. */
import type { FastifyInstance } from "fastify";
import { assets } from "../assets.js";

export async function assetRoutes(pages: FastifyInstance): Promise<void> {
  for (const { path, type, text } of Object.values(assets)) {
    pages.get(path.slice("/dashboard".length), { config: { isPublic: true } }, async (_request, reply) =>
      reply.header("cache-control", "public, max-age=31536000, immutable").type(type).send(text),
    );
  }
}
