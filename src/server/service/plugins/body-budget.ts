/** Limits the memory that the bodies of all requests take together, and the time in which a body must arrive. */
import plugin from "fastify-plugin";
import { Refusal } from "../../refusal.js";

interface BodyBudget {
  /** Limit for all unanswered requests together; beyond it, a request is refused with 503. */
  readonly bytes: number;
  /** Time after which a body that has not arrived is refused with 408. */
  readonly milliseconds: number;
}

export const bodyBudget = plugin<BodyBudget>(async (service, { bytes: most, milliseconds }) => {
  let held = 0;
  // A callback hook, not an async one: the listener must be attached before the first bytes of the body arrive.
  service.addHook("preParsing", (request, reply, payload, done) => {
    // A listener would start the stream before its reader is there.
    if (request.routeOptions.config.readsBody) return done(null, payload);
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      held += chunk.length;
      // Fastify removes its listener once it has refused the body; an unhandled "error" event would end the process.
      if (held <= most || payload.listenerCount("error") === 0) return;
      payload.off("data", count);
      payload.emit("error", new Refusal(503, "Too many requests; try again later."));
    };
    payload.on("data", count);
    const timer = setTimeout(() => {
      if (payload.listenerCount("error") > 0) payload.emit("error", new Refusal(408, "The request took too long."));
    }, milliseconds);
    payload.once("end", () => clearTimeout(timer));
    reply.raw.once("close", () => {
      clearTimeout(timer);
      payload.off("data", count);
      held -= bytes;
    });
    done(null, payload);
  });
});

declare module "fastify" {
  interface FastifyContextConfig {
    readsBody?: boolean;
  }
}
