/** Sends files of the program compressed to clients that take gzip. They are compressed once. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

const compressed = new WeakMap<Uint8Array, Promise<Uint8Array>>();

export async function sendCompressed({ headers }: FastifyRequest, reply: FastifyReply, bytes: Uint8Array) {
  reply.header("vary", "accept-encoding");
  if (!takesGzip(String(headers["accept-encoding"] ?? ""))) return reply.send(bytes);
  const known = compressed.get(bytes) ?? promisify(gzip)(bytes);
  compressed.set(bytes, known);
  return reply.header("content-encoding", "gzip").send(await known);
}

/** RFC 9110, section 12.5.3: a weight of 0 refuses. */
const takesGzip = (accepted: string): boolean =>
  accepted.split(",").some((each) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(each));
