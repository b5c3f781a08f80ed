/** Style and script of the pages. */
import type { FastifyInstance } from "fastify";
import { sendCompressed } from "../../compressed.js";
import { assets } from "../assets.js";

export async function assetRoutes(pages: FastifyInstance): Promise<void> {
  for (const { path, type, text } of Object.values(assets)) {
    const bytes = Buffer.from(text);
    pages.get(path.slice("/dashboard".length), { config: { isPublic: true } }, async (request, reply) => {
      reply.header("cache-control", "public, max-age=31536000, immutable");
      return sendCompressed(request, reply.type(type), bytes);
    });
  }
}
