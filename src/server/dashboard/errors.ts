/** Pages for errors and for requests that are for no page. */
import { dirname } from "node:path/posix";
import type { FastifyError } from "fastify";
import plugin from "fastify-plugin";
import { StoreError } from "../../state/errors.js";
import { Refusal } from "../refusal.js";
import { faultPage } from "./pages/layout.js";

const dashboard = "/dashboard";

const formFaults: Readonly<Record<string, readonly [status: number, text: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, "This is not a form."],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, "The form is too large."],
};

export const pageFaults = plugin(async (pages) => {
  pages.setErrorHandler((error: FastifyError, request, reply) => {
    const isSignedIn = request.visitor !== undefined;
    const { statusCode: status, message } = refusalFor(error);
    if (status === 503) request.log.error({ error: error.message }, "service unavailable");
    if (status === 500) request.log.error({ error: error.message, stack: error.stack }, "a bug in idv");
    return reply.code(status).type("text/html; charset=utf-8").send(faultPage(message, isSignedIn));
  });
  const isRoute = (method: "GET" | "POST", url: string) => pages.findRoute({ method, url }) !== null;
  pages.setNotFoundHandler((request, reply) => {
    // A request may have a whole URL.
    const { pathname: url } = new URL(request.url, "http://localhost");
    if (isRoute("GET", url)) throw new Refusal(405, "Method not allowed.");
    if (!isRoute("POST", url)) throw new Refusal(404, "There is no such page.");
    // The answer of a form has the form's address, which may be asked for again.
    let above = dirname(url);
    while (above.length > dashboard.length && !isRoute("GET", above)) above = dirname(above);
    return reply.redirect(above, 303);
  });
});

function refusalFor(error: FastifyError): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreError)
    return new Refusal(503, "The state cannot be used just now; the server's log says why. Try again later.");
  return new Refusal(...(formFaults[error.code] ?? [500, "Internal error."]));
}
