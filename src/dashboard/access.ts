/** Access to the dashboard: sessions in cookies, and changes accepted from its own pages only. */
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ServiceStore, sessionMilliseconds } from "../store/state/service-store.js";

/** Names of the session cookie; browsers accept the second one from https only. */
const [cookieName, secureName] = ["idv-session", "__Secure-idv-session"];

export function sessionSecret(request: FastifyRequest): string | undefined {
  const cookies = parseCookie(request.headers.cookie ?? "");
  return cookies[secureName] ?? cookies[cookieName];
}

/** Sets or removes the session cookie, which is for https only if the page was reached by https. */
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

/**
 * Returns whether a page of this dashboard sent a change. Browsers set both fields, and pages cannot:
 * https://www.w3.org/TR/fetch-metadata/ and RFC 6454.
 */
export function isFromHere({ headers }: FastifyRequest): boolean {
  const { origin, host } = headers;
  if (headers["sec-fetch-site"] !== "same-origin" || origin === undefined) return false;
  return URL.canParse(origin) && new URL(origin).host === host;
}

export async function sessionOf(store: ServiceStore, request: FastifyRequest): Promise<string | undefined> {
  const secret = sessionSecret(request);
  return secret === undefined ? undefined : store.sessionOf(secret);
}
