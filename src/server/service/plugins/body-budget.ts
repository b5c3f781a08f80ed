/**
 * Limits the memory that the bodies of all requests take together, and the time in which a body must arrive. Requests without a
 * key get a part of the memory, so that they cannot keep out the others.
 */
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { Refusal } from "../../refusal.js";
import { refuseBrokenRequest } from "../refusals.js";

interface BodyBudget {
  /** Limit for all unanswered requests together; beyond it, a request is refused with 503. */
  readonly bytes: number;
  /** Time after which a body that has not arrived is refused with 408. */
  readonly milliseconds: number;
}

/** Share of the bytes for requests whose key is not known before their body. */
const unknownShare = 1 / 4;

export const bodyBudget = plugin<BodyBudget>(async (service, { bytes: most, milliseconds }) => {
  const held = { all: 0, unknown: 0 };
  // A callback hook, not an async one: the listener must be attached before the first bytes of the body arrive.
  service.addHook("preParsing", (request, reply, payload, done) => {
    // A listener would start the stream before its reader is there.
    if (request.routeOptions.config.readsBody) {
      if (!isUpload(request)) closeIfSlow(request, milliseconds);
      return done(null, payload);
    }
    const isUnknown = request.apiKey === undefined;
    let bytes = 0;
    const take = (more: number) => {
      bytes += more;
      held.all += more;
      if (isUnknown) held.unknown += more;
    };
    const count = (chunk: Buffer) => {
      take(chunk.length);
      const isOver = held.all > most || (isUnknown && held.unknown > most * unknownShare);
      // Fastify removes its listener once it has refused the body; an unhandled "error" event would end the process.
      if (!isOver || payload.listenerCount("error") === 0) return;
      payload.off("data", count);
      payload.emit("error", new Refusal(503, "Too many requests; try again later."));
    };
    payload.on("data", count);
    const timer = setTimeout(() => {
      if (payload.listenerCount("error") > 0) payload.emit("error", new Refusal(408, "The request took too long."));
    }, milliseconds);
    payload.once("end", () => clearTimeout(timer));
    onceOver(request, reply, () => {
      clearTimeout(timer);
      payload.off("data", count);
      take(-bytes);
    });
    done(null, payload);
  });
});

/** A list of somebody who is known: pages look at the session first. */
const isUpload = ({ apiKey, headers }: FastifyRequest): boolean =>
  apiKey !== undefined || /^multipart\//i.test(headers["content-type"] ?? "");

function closeIfSlow({ raw }: FastifyRequest, milliseconds: number): void {
  const timer = setTimeout(() => {
    if (!raw.complete) refuseBrokenRequest({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, raw.socket);
  }, milliseconds);
  raw.once("close", () => clearTimeout(timer));
}

const ends = new WeakMap<Socket, Set<() => void>>();

/** A response that waits for others on a connection is not closed with it. */
function onceOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, end: () => void): void {
  const all = ends.get(socket) ?? new Set();
  if (!ends.has(socket)) {
    ends.set(socket, all);
    socket.once("close", () => {
      for (const each of all) each();
    });
  }
  const once = () => {
    if (all.delete(once)) end();
  };
  all.add(once);
  response.once("close", once);
  if (socket.destroyed) once();
}

declare module "fastify" {
  interface FastifyContextConfig {
    readsBody?: boolean;
  }
}
