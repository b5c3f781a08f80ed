/** Access to the dashboard: sessions in cookies, and changes accepted from its own pages only. */
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { type ServiceStore, sessionMilliseconds } from "../store/state/service-store.js";
import { PageFault } from "./page-fault.js";
import { signedOutPage } from "./pages/sign-in.js";

/** Names of the session cookie; browsers accept the second one from https only. */
const cookieName = "idv-session";
const secureName = "__Secure-idv-session";

export function sessionSecret(request: FastifyRequest): string | undefined {
  const cookies = parseCookie(request.headers.cookie ?? "");
  return cookies[secureName] ?? cookies[cookieName];
}

export function setSession(request: FastifyRequest, reply: FastifyReply, secret: string | undefined): void {
  const isSecure = request.headers.origin?.startsWith("https:") === true;
  const cookie = stringifySetCookie({
    name: isSecure ? secureName : cookieName,
    value: secret ?? "",
    path: "/dashboard",
    httpOnly: true,
    sameSite: "strict",
    secure: isSecure,
    maxAge: secret === undefined ? 0 : sessionMilliseconds / 1000,
  });
  reply.header("set-cookie", cookie);
}

export const access = plugin<{ readonly store: Pick<ServiceStore, "sessionOf"> }>(
  async (pages, { store }) => {
    pages.decorateRequest("session", "");
    pages.addHook("onRequest", async (request, reply) => {
      if (request.method === "POST" && !isFromHere(request)) {
        throw new PageFault(403, "This was not sent by a page of the dashboard; go back, and load it again.");
      }
      if (request.routeOptions.config.isPublic) return;
      const secret = sessionSecret(request);
      const session = secret === undefined ? undefined : await store.sessionOf(secret);
      if (session === undefined) {
        return reply.code(401).send(signedOutPage("You are not signed in, or the session has ended."));
      }
      request.session = session;
    });
  },
);

declare module "fastify" {
  interface FastifyContextConfig {
    isPublic?: boolean;
  }
  interface FastifyRequest {
    /** Name of the dashboard's session; empty without one. */
    session: string;
  }
}

/**
 * Returns whether a page of this dashboard sent a change. Browsers set both fields, and pages cannot:
 * https://www.w3.org/TR/fetch-metadata/ and RFC 6454.
 */
function isFromHere({ headers }: FastifyRequest): boolean {
  const { origin, host } = headers;
  if (headers["sec-fetch-site"] !== "same-origin" || origin === undefined) return false;
  return URL.canParse(origin) && new URL(origin).host === host;
}
