/** Reads JSON bodies, the only ones that the service takes. Must not know what is in them. */
import type { FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { Refusal } from "../refusals.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Most levels of arrays and objects in a large body; those of the service have two. */
const mostLevels = 64;
/** Size in bytes up to which a body is parsed unseen: its nesting costs little. */
const smallBytes = 65_536;

const [quote, backslash, openArray, openObject, closeArray, closeObject] = Buffer.from('"\\[{]}');

/**
 * Returns the value in a body; undefined if it is not JSON in UTF-8, or nested so deeply that parsing it would block
 * the thread: a megabyte of nested arrays took 0.9 s.
 */
export function parseBody(body: Buffer): unknown {
  if (body.length > smallBytes && isDeep(body)) return undefined;
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

function isDeep(body: Buffer): boolean {
  let levels = 0;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (byte === quote) {
      for (i++; i < body.length && body[i] !== quote; i++) if (body[i] === backslash) i++;
    } else if (byte === openArray || byte === openObject) {
      if (++levels > mostLevels) return true;
    } else if (byte === closeArray || byte === closeObject) levels--;
  }
  return false;
}

export const jsonBodies = plugin(async (service) => {
  // RFC 9110 §15.5.16: Accept-Encoding says which encodings a request may have.
  service.addHook("preParsing", async ({ headers }, reply) => {
    const encoding = headers["content-encoding"] ?? "identity";
    if (encoding.toLowerCase() === "identity") return;
    reply.header("accept-encoding", "identity");
    throw new Refusal(415, "The body must not be compressed; send it without Content-Encoding.");
  });
  service.removeAllContentTypeParsers();
  service.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      request.rawBody = body;
      const value = parseBody(body);
      if (value === undefined) throw new Refusal(400, "The body is not valid JSON in UTF-8.");
      return value;
    },
  );
});

declare module "fastify" {
  interface FastifyRequest {
    rawBody: Buffer;
  }
}
