/**
 * Access to the dashboard: sessions in cookies, and changes accepted from its own pages only. Whoever can use the state
 * gets a link: no default password, and no first visitor who becomes the owner. A button spends it: previews open
 * links.
 */
import { text } from "node:stream/consumers";
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { sessionMilliseconds } from "../../state/service/sessions.js";
import { Refusal } from "../refusal.js";
import { mostFormBytes } from "./form.js";
import type { DashboardOptions } from "./options.js";
import { signedOutPage, type UnsentForm } from "./pages/sign-in.js";

/** Browsers accept the second name from https only. */
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

export const access = plugin<Pick<DashboardOptions, "store" | "baseUrl" | "proxy">>(
  async (pages, { store, baseUrl, proxy }) => {
    pages.decorateRequest("visitor", undefined);
    pages.addHook("onRequest", async (request, reply) => {
      const fault = request.method === "POST" ? originFault(request, baseUrl) : undefined;
      if (fault !== undefined) throw new Refusal(403, fault);
      if (request.routeOptions.config.isPublic) return;
      const visitor = fromProxy(request) ?? (await fromCookie(request));
      if (visitor === undefined) {
        const form = await unsentForm(request);
        return reply.code(401).send(signedOutPage("You are not signed in, or the session has ended.", form));
      }
      request.visitor = visitor;
    });

    function fromProxy({ headers, raw }: FastifyRequest): string | undefined {
      const name = proxy === undefined ? undefined : headers[proxy.header];
      if (proxy === undefined || name === undefined || name === "") return undefined;
      const { remoteAddress } = raw.socket;
      if (!proxy.isTrusted(remoteAddress)) {
        const text = `The field ${proxy.header} was sent from ${remoteAddress ?? "a Unix socket"}, which is not trusted; the operator must name the proxy with --trust-from`;
        throw new Refusal(403, text);
      }
      return String(name).slice(0, longestName);
    }

    async function fromCookie(request: FastifyRequest): Promise<string | undefined> {
      const secret = sessionSecret(request);
      const session = secret === undefined ? undefined : await store.sessions.find(secret);
      return session && (session.name ?? `session ${session.id}`);
    }
  },
);

const longestName = 100;

/** A form that somebody has filled in while the session ended goes back to the browser, and can be sent again. */
async function unsentForm({ method, url, headers, raw }: FastifyRequest): Promise<UnsentForm | undefined> {
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  if (method !== "POST" || !isForm || Number(headers["content-length"] ?? Infinity) > mostFormBytes) return undefined;
  const form = await text(raw).catch(() => {
    throw new Refusal(400, "The form broke off; send it again.");
  });
  const fields = [...new URLSearchParams(form)];
  return fields.length === 0 ? undefined : { path: url, fields };
}

/** Name of the visitor of a page that is not public: of a link, a session, or from the proxy. */
export const nameOf = ({ visitor }: FastifyRequest): string => visitor!;

declare module "fastify" {
  interface FastifyContextConfig {
    isPublic?: boolean;
  }
  interface FastifyRequest {
    visitor: string | undefined;
  }
}

// Returns why a form may not come from this dashboard. Pages cannot set the two fields
// (https://www.w3.org/TR/fetch-metadata/, RFC 6454). Browsers send Sec-Fetch-Site over https and to their own machine
// only; else Origin decides.
function originFault({ headers }: FastifyRequest, baseUrl: string | undefined): string | undefined {
  const { origin = "", host = "", "sec-fetch-site": site } = headers;
  if (!URL.canParse(origin) || (site !== undefined && site !== "same-origin")) {
    return "This form was sent by another site, or opened there; open the dashboard by its own address.";
  }
  const { host: originHost } = new URL(origin);
  if (origin !== baseUrl && originHost !== host) {
    return `The browser is at ${originHost}, but the request names the host ${host || "(none)"}: a proxy replaces the Host field. The operator must make the proxy pass Host on, or start idv serve with --base-url ${origin}`;
  }
  if (site !== undefined || origin === baseUrl) return undefined;
  return `The browser does not say which page has sent this form, since the page came over plain http. Open the dashboard over https; in a network that you trust, the operator can start idv serve with --base-url ${origin}`;
}
