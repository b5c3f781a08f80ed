/**
 * The dashboard of `idv serve`: pages for keys, usage, trying items, and lists. One handler for all paths below
 * /dashboard; it is loaded with the first request for one. Must not know how the service is opened.
 */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Classifier } from "../classifier/classifier.js";
import { reportPolicy } from "../report/policy.js";
import { StoreError } from "../store/errors.js";
import { periods } from "../store/quota/period.js";
import { isUsable } from "../store/state/rules.js";
import { newId } from "../store/state/secrets.js";
import {
  type ApiKey,
  type KeyChange,
  KeyExistsError,
  type Permission,
  permissions,
  SecretExistsError,
  type ServiceStore,
  UnknownKeyError,
} from "../store/state/service-store.js";
import type { UsageQuery } from "../store/state/usage.js";
import { type Kind, knownStatuses } from "../validator/validator.js";
import { isFromHere, sessionOf, sessionSecret, setSession } from "./access.js";
import { assets } from "./assets.js";
import { choiceOf, fieldOf, numberOf, readForm } from "./form.js";
import type { ListRunner } from "./list-job.js";
import { Lists } from "./lists.js";
import { PageFault } from "./page-fault.js";
import { keyPage } from "./pages/key.js";
import { keysPage, secretPage } from "./pages/keys.js";
import { faultPage } from "./pages/layout.js";
import { listPage, sendPage } from "./pages/list.js";
import { overviewPage } from "./pages/overview.js";
import { signedOutPage, signInPage } from "./pages/sign-in.js";
import { tryPage } from "./pages/try.js";
import { type UsageForm, usageCsv, usagePage } from "./pages/usage.js";
import { day, hour, type Span, spansOf } from "./usage-spans.js";

export interface DashboardOptions {
  readonly store: ServiceStore;
  readonly classifier: Pick<Classifier, "classify">;
  readonly now: () => number;
  readonly refusals: () => Promise<number>;
  /** Further facts for the overview: version, age of the data. */
  readonly facts: () => readonly (readonly [term: string, text: string])[];
  readonly runner: ListRunner;
}

interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly url: URL;
  readonly session: string;
  /** Groups of the route's pattern. */
  readonly parts: readonly string[];
}

/** Returns a page, or sends the reply itself. */
type Route = (visit: Visit) => Promise<string | FastifyReply>;

/** Pages load only what this server sends, and no other page may frame them. */
const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Longest wait for the rest of a refused upload, in milliseconds. */
const restMilliseconds = 3000;
const mostLines = 100;
/** Longest time shown, in days: by hours, and by days. */
const [mostHourDays, mostDays] = [31, 366];

export class Dashboard {
  readonly #options: DashboardOptions;
  readonly #lists: Lists;
  readonly #routes: readonly (readonly [method: "GET" | "POST", path: RegExp, route: Route])[];

  constructor(options: DashboardOptions) {
    this.#options = options;
    this.#lists = new Lists(options.runner);
    const key = "([A-Za-z0-9]{1,32})";
    this.#routes = [
      ["GET", /^$/, () => this.#overview()],
      ["GET", /^\/keys$/, () => this.#keys()],
      ["POST", /^\/keys$/, (visit) => this.#createKey(visit)],
      ["GET", new RegExp(`^/keys/${key}$`), ({ parts }) => this.#key(parts[0]!)],
      ["POST", new RegExp(`^/keys/${key}/set$`), (visit) => this.#setKey(visit)],
      ["POST", new RegExp(`^/keys/${key}/rotate$`), (visit) => this.#rotateKey(visit)],
      ["POST", new RegExp(`^/keys/${key}/end$`), (visit) => this.#endSecret(visit)],
      ["POST", new RegExp(`^/keys/${key}/revoke$`), (visit) => this.#revokeKey(visit)],
      ["GET", /^\/usage$/, (visit) => this.#usage(visit)],
      ["GET", /^\/usage\.csv$/, (visit) => this.#usageCsv(visit)],
      ["GET", /^\/try$/, async () => tryPage({ kind: "email", text: "", lines: [] })],
      ["POST", /^\/try$/, (visit) => this.#try(visit)],
      ["GET", /^\/list$/, async (visit) => this.#list(visit)],
      ["POST", /^\/list$/, (visit) => this.#takeList(visit)],
      ["POST", /^\/list\/run$/, (visit) => this.#runList(visit)],
      ["POST", /^\/list\/remove$/, (visit) => this.#removeList(visit)],
      ["GET", /^\/list\/file\/(\d{1,2})$/, (visit) => this.#resultOf(visit)],
      ["GET", /^\/list\/report$/, (visit) => this.#reportOf(visit)],
      ["POST", /^\/sign-out$/, (visit) => this.#signOut(visit)],
    ];
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const url = new URL(request.url, "http://idv");
    const path = url.pathname.slice("/dashboard".length).replace(/\/$/, "");
    const asset = Object.values(assets).find((each) => each.path === url.pathname);
    reply.header("content-security-policy", securityPolicy);
    reply.header("x-content-type-options", "nosniff");
    // Not no-referrer: with it, browsers send no Origin with a form.
    reply.header("referrer-policy", "same-origin");
    reply.header("cross-origin-opener-policy", "same-origin");
    if (asset) {
      reply.header("cache-control", "public, max-age=31536000, immutable");
      return reply.type(asset.type).send(asset.text);
    }
    reply.header("cache-control", "no-store").type("text/html; charset=utf-8");
    let session: string | undefined;
    try {
      const method = request.method === "HEAD" ? "GET" : request.method;
      if (method === "POST" && !isFromHere(request)) {
        throw new PageFault(403, "This was not sent by a page of the dashboard; go back, and load it again.");
      }
      if (path === "/sign-in") return await this.#signIn(request, reply, method, url);
      session = await sessionOf(this.#options.store, request);
      if (session === undefined) {
        return reply.code(401).send(signedOutPage("You are not signed in, or the session has ended."));
      }
      const fitting = this.#routes.filter(([, pattern]) => pattern.test(path));
      if (fitting.length === 0) throw new PageFault(404, "There is no such page.");
      const [, pattern, route] = fitting.find(([wanted]) => wanted === method) ?? [];
      if (route === undefined) throw new PageFault(405, "Method not allowed.");
      const parts = pattern!.exec(path)!.slice(1);
      const page = await route({ request, reply, url, session, parts });
      return typeof page === "string" ? reply.send(page) : page;
    } catch (error) {
      if (error instanceof StoreError) {
        request.log.error({ error: error.message }, "service unavailable");
        const text = "The state cannot be used just now; the server's log says why. Try again later.";
        return reply.code(503).send(faultPage(text, session !== undefined));
      }
      if (!(error instanceof PageFault)) throw error;
      return reply.code(error.statusCode).send(faultPage(error.message, session !== undefined));
    }
  }

  async #signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    method: string,
    url: URL,
  ): Promise<FastifyReply> {
    if (method === "GET") return reply.send(signInPage(url.searchParams.get("token") ?? ""));
    const token = fieldOf(await readForm(request), "token") ?? "";
    const secret = await this.#options.store.signIn(token);
    if (secret === undefined) {
      return reply.code(403).send(signedOutPage("The link was used already, or is older than 10 minutes."));
    }
    setSession(request, reply, secret);
    return reply.redirect("/dashboard", 303);
  }

  async #signOut({ request, reply, session }: Visit): Promise<string> {
    await this.#lists.remove(session);
    await this.#options.store.signOut(sessionSecret(request));
    setSession(request, reply, undefined);
    return signedOutPage("You are signed out.");
  }

  async #overview(): Promise<string> {
    const { store, refusals, facts } = this.#options;
    const isWritable = await store.checkWritable().then(
      () => true,
      () => false,
    );
    const [days, keys, audit] = await Promise.all([this.#days(), store.list(), store.audit(10)]);
    return overviewPage({ days, keys, audit, isWritable, refusals: await refusals(), facts: facts() });
  }

  #days(keyId?: string): Promise<readonly Span[]> {
    return this.#last(30, day, keyId);
  }

  #last(count: number, span: number, keyId?: string): Promise<readonly Span[]> {
    const now = this.#options.now();
    const to = now - (now % span) + span;
    return this.#spans({ from: to - count * span, to, span, ...(keyId !== undefined && { keyId }) });
  }

  async #spans(query: UsageQuery): Promise<readonly Span[]> {
    return spansOf(await this.#options.store.usage(query), query);
  }

  async #keys(fault?: string): Promise<string> {
    const keys = await this.#options.store.list();
    return keysPage({ keys, nextId: newId(), ...(fault !== undefined && { fault }) });
  }

  async #createKey({ request, session }: Visit): Promise<string> {
    const { store } = this.#options;
    const form = await readForm(request);
    const id = newIdIn(form);
    const quotaName = fieldOf(form, "quota");
    const { limit, ...change } = this.#changeIn(form);
    try {
      // A new key does not change the limit of an existing shared quota.
      const isShared = quotaName !== undefined && limit === null;
      const quota = isShared ? {} : { limit: limit ?? null, period: choiceOf(form, "period", periods) };
      const isSandbox = form.has("sandbox");
      const named = quotaName === undefined ? {} : { quotaName };
      const { key, secret } = await store.create({ ...change, ...quota, ...named, id, isSandbox });
      await store.record({ who: session, what: "created", keyId: key.id });
      return secretPage("API key created", key, secret, baseUrlOf(request));
    } catch (error) {
      if (error instanceof KeyExistsError) {
        return this.#keys("The key was created already. Its secret was shown then, and is not stored.");
      }
      if (!(error instanceof UnknownKeyError)) throw error;
      return this.#keys(
        `There is a quota "${quotaName}" already: leave the limit empty to share it as it is.`,
      );
    }
  }

  #changeIn(form: URLSearchParams): KeyChange & { readonly limit: number | null } {
    const name = fieldOf(form, "name");
    if (name === undefined || name.length > 100) throw new PageFault(400, "Name: give 1 to 100 characters.");
    const wanted = permissions.filter((each): each is Permission =>
      form.getAll("permissions").includes(each),
    );
    if (wanted.length === 0) throw new PageFault(400, "Permissions: choose emails, domains, or both.");
    const date = fieldOf(form, "expires");
    const expires = date === undefined ? null : timeOf(date, "Expires");
    if (expires !== null && expires <= this.#options.now()) {
      throw new PageFault(400, "Expires: give a day in the future.");
    }
    return { name, permissions: wanted, expires, limit: numberOf(form, "limit", "Limit") ?? null };
  }

  async #key(id: string, said: { readonly fault?: string; readonly done?: string } = {}): Promise<string> {
    const key = await this.#keyOf(id);
    const [days, hours] = await Promise.all([this.#days(id), this.#last(48, hour, id)]);
    return keyPage({ key, nextSecretId: newId(), days, hours, ...said });
  }

  async #keyOf(id: string): Promise<ApiKey> {
    const key = (await this.#options.store.list()).find((each) => each.id === id);
    if (key === undefined) throw new PageFault(404, "There is no such key.");
    return key;
  }

  async #setKey({ request, session, parts: [id = ""] }: Visit): Promise<string> {
    const form = await readForm(request);
    const change = { ...this.#changeIn(form), period: choiceOf(form, "period", periods) };
    await this.#keyOf(id);
    await this.#options.store.set(id, change);
    await this.#options.store.record({ who: session, what: "changed", keyId: id });
    return this.#key(id, { done: "Saved." });
  }

  async #rotateKey({ request, session, parts: [id = ""] }: Visit): Promise<string> {
    const { store } = this.#options;
    const form = await readForm(request);
    const grace = choiceOf(form, "grace", ["24", "0", "1", "168"]);
    const secretId = newIdIn(form);
    const found = await this.#keyOf(id);
    if (found.revoked !== null) return this.#key(id, { fault: "The key is revoked; create another one." });
    try {
      const { key, secret } = await store.rotate(id, Number(grace) * hour, secretId);
      await store.record({ who: session, what: "rotated", keyId: id });
      return secretPage("New secret", key, secret, baseUrlOf(request));
    } catch (error) {
      if (!(error instanceof SecretExistsError)) throw error;
      const fault = "The key was given this secret already. It was shown then, and is not stored.";
      return this.#key(id, { fault });
    }
  }

  async #endSecret({ request, session, parts: [id = ""] }: Visit): Promise<string> {
    const { store } = this.#options;
    const secretId = fieldOf(await readForm(request), "id") ?? "";
    await this.#keyOf(id);
    try {
      await store.endSecret(id, secretId);
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
      return this.#key(id, { fault: "The key has no such older secret any more." });
    }
    await store.record({ who: session, what: "secret ended", keyId: id });
    return this.#key(id, { done: "Ended: requests with that secret are refused from now on." });
  }

  async #revokeKey({ request, session, parts: [id = ""] }: Visit): Promise<string> {
    const { store } = this.#options;
    const key = await this.#keyOf(id);
    if (fieldOf(await readForm(request), "name") !== (key.name.trim() || key.id)) {
      return this.#key(id, { fault: "That is not the name of the key: it was not revoked." });
    }
    await store.revoke(id);
    await store.record({ who: session, what: "revoked", keyId: id });
    return this.#key(id, { done: "Revoked: requests with it are refused from now on." });
  }

  async #usage({ url }: Visit): Promise<string> {
    const form = this.#formIn(url);
    return usagePage(form, await this.#spans(queryOf(form)), await this.#options.store.list());
  }

  async #usageCsv({ url, reply }: Visit): Promise<FastifyReply> {
    const form = this.#formIn(url);
    reply.header("content-disposition", `attachment; filename="usage-${form.from}-${form.to}.csv"`);
    return reply
      .type("text/csv; charset=utf-8")
      .send(usageCsv(await this.#spans(queryOf(form)), form.by === "hour"));
  }

  #formIn({ searchParams }: URL): UsageForm {
    const now = this.#options.now();
    const from = fieldOf(searchParams, "from") ?? dayName(now - 29 * day);
    const to = fieldOf(searchParams, "to") ?? dayName(now);
    const by = choiceOf(searchParams, "by", ["day", "hour"]);
    const days = (timeOf(to, "To") - timeOf(from, "From")) / day + 1;
    const most = by === "hour" ? mostHourDays : mostDays;
    if (days < 1 || days > most) throw new PageFault(400, `Give a time of 1 to ${most} days.`);
    return { from, to, by, key: fieldOf(searchParams, "key") ?? "" };
  }

  async #list({ session }: Visit, fault?: string): Promise<string> {
    const job = this.#lists.of(session);
    if (job === undefined) return sendPage(this.#lists.mostBytes, fault);
    return listPage(job, await this.#keysFor(job.kind), fault);
  }

  async #keysFor(kind: Kind): Promise<readonly ApiKey[]> {
    const now = this.#options.now();
    const permission = kind === "email" ? "emails" : "domains";
    return (await this.#options.store.list()).filter(
      (key) => isUsable(key, now) && !key.isSandbox && key.permissions.includes(permission),
    );
  }

  async #takeList({ request, reply, session }: Visit): Promise<FastifyReply> {
    try {
      await this.#lists.take(request, session);
      return reply.redirect("/dashboard/list", 303);
    } catch (error) {
      if (!(error instanceof PageFault)) throw error;
      // Browsers show an answer only when they have sent the whole upload; a long rest is not awaited.
      request.raw.resume();
      const arrived = new Promise((resolve) => request.raw.once("close", resolve).once("end", resolve));
      if (!request.raw.readableEnded) await Promise.race([arrived, sleep(restMilliseconds)]);
      reply.header("connection", "close");
      return reply.code(error.statusCode).send(sendPage(this.#lists.mostBytes, error.message));
    }
  }

  async #runList(visit: Visit): Promise<string | FastifyReply> {
    const form = await readForm(visit.request);
    const job = this.#lists.of(visit.session);
    if (job?.state.name !== "detected") return visit.reply.redirect("/dashboard/list", 303);
    const column = numberOf(form, "column", "Column") ?? job.state.table.column;
    const delimiter = choiceOf(form, "delimiter", ["", ",", ";", "tab", "|"]) || undefined;
    const drop = form
      .getAll("drop")
      .filter((status) => (knownStatuses as readonly string[]).includes(status));
    const keyId = fieldOf(form, "key") ?? "";
    const keys = await this.#keysFor(job.kind);
    if (!keys.some(({ id }) => id === keyId))
      return this.#list(visit, "That key cannot be charged any more.");
    job.start({ keyId, column, delimiter, drop, isSplit: form.has("split"), dns: form.has("dns") });
    return visit.reply.redirect("/dashboard/list", 303);
  }

  async #removeList({ reply, session }: Visit): Promise<FastifyReply> {
    await this.#lists.remove(session);
    return reply.redirect("/dashboard/list", 303);
  }

  async #resultOf({ reply, session, parts: [index] }: Visit): Promise<FastifyReply> {
    const job = this.#lists.of(session);
    const file = job?.state.name === "done" ? job.state.files[Number(index)] : undefined;
    if (job === undefined || file === undefined) throw new PageFault(404, "There is no such file.");
    reply.header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`);
    reply.header("content-length", file.bytes).type("application/octet-stream");
    return reply.send(createReadStream(job.pathOf(file.name)));
  }

  async #reportOf({ reply, session }: Visit): Promise<FastifyReply> {
    const job = this.#lists.of(session);
    if (job?.state.name !== "done") throw new PageFault(404, "There is no report.");
    // The page has inline CSS, which the policy allows by hash.
    reply.header("content-security-policy", reportPolicy);
    return reply.send(createReadStream(job.reportPath));
  }

  close(): Promise<void> {
    return this.#lists.close();
  }

  async #try({ request }: Visit): Promise<string> {
    const form = await readForm(request);
    const kind = choiceOf(form, "kind", ["email", "domain"]);
    const text = form.get("items") ?? "";
    const items = text.split(/\r?\n/).flatMap((line) => line.trim() || []);
    const { classify } = this.#options.classifier;
    if (items.length > mostLines) {
      const fault = `${items.length} lines; at most ${mostLines}. For more, check a list.`;
      return tryPage({ kind, text, lines: [], fault });
    }
    return tryPage({ kind, text, lines: items.map((item) => ({ item, verdict: classify(kind, item) })) });
  }
}

/**
 * Returns the id of the new object, which the form brings so that sending it twice creates one object.
 *
 * @throws PageFault when it has none
 */
function newIdIn(form: URLSearchParams): string {
  const id = fieldOf(form, "id");
  if (id !== undefined && /^[A-Za-z0-9]{9}$/.test(id)) return id;
  throw new PageFault(400, "The form is incomplete.");
}

const dayName = (time: number): string => new Date(time).toISOString().slice(0, 10);

/**
 * Returns the start of a day in UTC, in milliseconds since the epoch.
 *
 * @throws PageFault when the text is not a day
 */
function timeOf(text: string, label: string): number {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(time)) throw new PageFault(400, `${label}: give a day, such as 2026-11-22.`);
  return time;
}

const queryOf = ({ from, to, key, by }: UsageForm): UsageQuery => ({
  ...{ from: timeOf(from, "From"), to: timeOf(to, "To") + day, span: by === "hour" ? hour : day },
  ...(key !== "" && { keyId: key }),
});

const baseUrlOf = ({ headers }: FastifyRequest): string =>
  new URL(headers.origin ?? "http://127.0.0.1:8787").origin;
