/** Turns errors into responses, and refuses requests without a route. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { readRest } from "../../lists/transfers.js";
import { Refusal } from "../../refusal.js";
import { errorBody } from "../error-codes.js";
import { noSuchPath, refusalFor, refuseExpectation, refuseTunnel } from "../refusals.js";

type ErrorOptions = { readonly maximumItems: number; readonly bodyLimit: number };

export const errors = plugin<ErrorOptions>(async (service, { maximumItems, bodyLimit }) => {
  service.server.on("checkExpectation", refuseExpectation);
  service.server.on("connect", refuseTunnel);
  service.addHook("onRequest", async ({ raw: { rawHeaders, httpVersion, headers } }) => {
    const { host = "", "transfer-encoding": coding } = headers;
    const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
    // RFC 9112 section 3.2: a proxy in front may have looked at another one.
    if (hosts > 1) throw new Refusal(400, "There are several Host fields; send one.");
    if (hosts === 0 && httpVersion === "1.1") throw new Refusal(400, "The Host field is missing.");
    if (/[\s/?#@\\]/.test(host)) throw new Refusal(400, "The Host field is not the name of a host.");
    // RFC 9112 section 6.1.
    if (coding !== undefined && coding.toLowerCase() !== "chunked")
      throw new Refusal(501, "Transfer-Encoding: only chunked.");
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply) => {
    const { url } = request;
    const allow = ["GET", "HEAD", "POST", "DELETE"].filter((method) => service.findRoute({ method, url })).join(", ");
    if (allow === "") return reply.code(404).send(noSuchPath);
    return reply
      .code(405)
      .header("allow", allow)
      .send(errorBody(405, `Method not allowed; use ${allow}.`));
  };
  // Runs before the body is read: the response does not depend on it.
  service.addHook("onRequest", async (request, reply) => (request.is404 ? refuse(request, reply) : undefined));
  // A preflight of an origin that is not allowed.
  service.setNotFoundHandler(refuse);
  service.setErrorHandler(async (error: FastifyError, request, reply) => {
    // Many clients read the answer only when they have sent the body; nobody else reads it if the request was refused before.
    if (!request.raw.complete && request.raw.listenerCount("data") === 0) await readRest(request.raw);
    const { statusCode, message, details } = refusalFor(error, maximumItems, bodyLimit);
    if (statusCode === 503) request.log.error({ error: error.message }, "service unavailable");
    const wait = details.retryAfter ?? (statusCode === 503 ? 1 : undefined);
    if (wait !== undefined) reply.header("retry-after", wait);
    if (statusCode === 500) request.log.error({ error: error.message, stack: error.stack }, "a bug in idv");
    return reply.code(statusCode).send(errorBody(statusCode, message, details.code));
  });
});
