/** The page that checks lists in the browser, at /try/. It needs no key: nothing is sent to the service. */
import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { sendCompressed } from "../../compressed.js";

export type PageFiles = { readonly page: Uint8Array; readonly serviceWorker: Uint8Array };

export async function pageRoutes(
  service: FastifyInstance,
  { files: { page, serviceWorker } }: { readonly files: PageFiles },
): Promise<void> {
  const file = (path: string, type: string, bytes: Uint8Array) => {
    // Weak: it stands for the compressed bytes, too.
    const etag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    service.get(path, { schema: { hide: true } }, async (request, reply) => {
      reply.headers({
        etag,
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        // The rest of its policy is in the page.
        "content-security-policy": "frame-ancestors 'none'",
      });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return sendCompressed(request, reply.type(type), bytes);
    });
  };
  // The service worker is for the paths below its own.
  service.get("/try", { schema: { hide: true } }, async (_request, reply) => reply.redirect("/try/", 308));
  file("/try/", "text/html; charset=utf-8", page);
  file("/try/service-worker.js", "text/javascript; charset=utf-8", serviceWorker);
}
