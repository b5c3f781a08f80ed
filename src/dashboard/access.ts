/** Access to the dashboard: sessions in cookies, and changes accepted from its own pages only. */
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { type Person, sessionMilliseconds } from "../store/state/people.js";
import type { DashboardOptions } from "./options.js";
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

/** Somebody who may see the pages. */
export interface Visitor {
  /** Of the person, or of a session without one. */
  readonly name: string;
  readonly isAdmin: boolean;
}

export const access = plugin<Pick<DashboardOptions, "store" | "baseUrl" | "proxy">>(
  async (pages, { store, baseUrl, proxy }) => {
    pages.decorateRequest("visitor", undefined);
    pages.addHook("onRequest", async (request, reply) => {
      const fault = request.method === "POST" ? originFault(request, baseUrl) : undefined;
      if (fault !== undefined) throw new PageFault(403, fault);
      const { isPublic, isForViewers } = request.routeOptions.config;
      if (isPublic) return;
      const visitor = (await fromProxy(request)) ?? (await fromCookie(request));
      if (visitor === undefined) {
        return reply.code(401).send(signedOutPage("You are not signed in, or the session has ended."));
      }
      request.visitor = visitor;
      if (request.method === "POST" && !visitor.isAdmin && !isForViewers) {
        throw new PageFault(403, "You may look, but not change anything: ask an admin of the service.");
      }
    });
    // Style hides the forms that a viewer may not send.
    pages.addHook("onSend", async ({ visitor }, _reply, payload) =>
      visitor?.isAdmin === false && typeof payload === "string"
        ? payload.replace("<body>", '<body class="viewer">')
        : payload,
    );

    async function fromProxy({ headers, raw }: FastifyRequest): Promise<Visitor | undefined> {
      const name = proxy === undefined ? undefined : headers[proxy.header];
      if (proxy === undefined || name === undefined || name === "") return undefined;
      const { remoteAddress } = raw.socket;
      if (!proxy.isTrusted(remoteAddress)) {
        const text = `The field ${proxy.header} was sent from ${remoteAddress ?? "a Unix socket"}, which is not trusted: whoever runs the service names its proxy with --trust-from`;
        throw new PageFault(403, text);
      }
      const person = await store.people.find(String(name));
      if (person !== undefined) return visitorOf(person);
      const text = `${String(name)} is not known here: whoever runs the service adds people with idv people add`;
      throw new PageFault(403, text);
    }

    async function fromCookie(request: FastifyRequest): Promise<Visitor | undefined> {
      const secret = sessionSecret(request);
      const session = secret === undefined ? undefined : await store.people.sessionOf(secret);
      if (session === undefined) return undefined;
      const { id, person } = session;
      return person === undefined ? { name: `session ${id}`, isAdmin: true } : visitorOf(person);
    }
  },
);

const visitorOf = ({ name, role }: Person): Visitor => ({ name, isAdmin: role === "admin" });

/** Returns the name of the visitor of a page that is not public. */
export const nameOf = ({ visitor }: FastifyRequest): string => visitor!.name;

declare module "fastify" {
  interface FastifyContextConfig {
    isPublic?: boolean;
    isForViewers?: boolean;
  }
  interface FastifyRequest {
    visitor: Visitor | undefined;
  }
}

/**
 * Returns why a form may not come from a page of this dashboard; undefined if it does. Pages cannot set the two fields:
 * https://www.w3.org/TR/fetch-metadata/ and RFC 6454. Browsers send Sec-Fetch-Site over https and to their own machine
 * only. Over http, Origin alone decides, if the base URL has it.
 *
 * @param baseUrl origin at which people reach the service; undefined if only the Host field tells
 */
function originFault({ headers }: FastifyRequest, baseUrl: string | undefined): string | undefined {
  const { origin = "", host = "", "sec-fetch-site": site } = headers;
  if (!URL.canParse(origin) || (site !== undefined && site !== "same-origin")) {
    return "This form was sent by another site, or opened there; open the dashboard by its own address.";
  }
  const { host: originHost } = new URL(origin);
  if (origin !== baseUrl && originHost !== host) {
    return `The browser is at ${originHost}, but the request names the host ${host || "(none)"}: a proxy replaces the Host field. Whoever runs the service makes the proxy pass Host on, or starts it with --base-url ${origin}`;
  }
  if (site !== undefined || origin === baseUrl) return undefined;
  return `The browser does not say which page has sent this form, since the page came over plain http. Open the dashboard over https; in a network that you trust, whoever runs the service starts it with --base-url ${origin}`;
}
