/** Routes of the keys: list, create, change, add secrets, revoke. */
import type { FastifyRequest } from "fastify";
import { periods } from "../../../state/quota/period.js";
import type { ApiKey, KeyChange, Permission } from "../../../state/service/api-key.js";
import {
  KeyExistsError,
  NameTakenError,
  permissions,
  SecretExistsError,
  UnknownKeyError,
} from "../../../state/service/api-key.js";
import { newId } from "../../../state/service/secrets.js";
import { day, hour } from "../../../time.js";
import { Refusal } from "../../refusal.js";
import { nameOf } from "../access.js";
import { choiceOf, fieldOf, formIn, numberOf, queryIn, timeIn } from "../form.js";
import type { Routes } from "../options.js";
import type { RefusedForm } from "../pages/field.js";
import { keyPage } from "../pages/key.js";
import { formOf, rateTimes } from "../pages/key-fields.js";
import { type KeyQuery, keySorts, keysPage, secretPage } from "../pages/keys.js";
import { lastSpans } from "../usage-spans.js";

type KeyRequest = FastifyRequest<{ Params: { readonly id: string } }>;

export const keyRoutes: Routes = async (pages, { store, baseUrl }) => {
  const allKeys = async (request: FastifyRequest, refused?: RefusedForm) =>
    keysPage({
      keys: await store.list(),
      query: keyQueryOf(queryIn(request)),
      nextId: newId(),
      refused,
      now: store.now(),
    });

  const keyOf = async (id: string): Promise<ApiKey> => {
    const key = (await store.list()).find((each) => each.id === id);
    if (key === undefined) throw new Refusal(404, "There is no such key.");
    return key;
  };

  const oneKey = async (
    id: string,
    said: { readonly fault?: string; readonly done?: string; readonly refused?: RefusedForm } = {},
  ) => {
    const key = await keyOf(id);
    const [days, hours] = await Promise.all([
      lastSpans(store, store.now(), 30, day, id),
      lastSpans(store, store.now(), 48, hour, id),
    ]);
    return keyPage({ key, nextSecretId: newId(), days, hours, ...said });
  };

  pages.get("/keys", (request) => allKeys(request));

  pages.post("/keys", async (request, reply) => {
    const form = formIn(request);
    const id = newIdIn(form);
    const quotaName = fieldOf(form, "quota");
    try {
      const { limit, ...change } = changeIn(form, store.now());
      // A new key does not change the limit of an existing shared quota.
      const isShared = quotaName !== undefined && limit === null;
      const quota = isShared ? {} : { limit: limit ?? null, period: choiceOf(form, "period", periods) };
      const named = quotaName === undefined ? {} : { quotaName };
      const isSandbox = form.has("sandbox");
      const { key, secret } = await store.create({ ...change, ...quota, ...named, id, isSandbox }, nameOf(request));
      return secretPage("API key created", key, secret, baseUrl ?? originOf(request));
    } catch (error) {
      if (error instanceof KeyExistsError) {
        const fault = "The key was created already. Its secret was shown then, and is not stored.";
        return allKeys(request, { form: new URLSearchParams(), fault });
      }
      const refused = refusedForm(form, error);
      if (refused !== undefined) {
        reply.code(400);
        return allKeys(request, refused);
      }
      if (!(error instanceof UnknownKeyError)) throw error;
      const fault = `There is a quota "${quotaName}" already: leave the limit empty to share it as it is.`;
      return allKeys(request, { form, fault, field: "limit" });
    }
  });

  const path = "/keys/:id(^[A-Za-z0-9]{1,32}$)";

  pages.get(path, ({ params: { id } }: KeyRequest) => oneKey(id));

  pages.post(`${path}/set`, async (request: KeyRequest, reply) => {
    const { id } = request.params;
    const form = formIn(request);
    const key = await keyOf(id);
    try {
      await store.set(id, ownChange(form, formOf(key), store.now()), nameOf(request));
    } catch (error) {
      const refused = refusedForm(form, error);
      if (refused === undefined) throw error;
      reply.code(error instanceof Refusal ? error.statusCode : 400);
      return oneKey(id, { refused });
    }
    return oneKey(id, { done: "Saved." });
  });

  pages.post(`${path}/rotate`, async (request: KeyRequest) => {
    const { id } = request.params;
    const form = formIn(request);
    const grace = choiceOf(form, "grace", ["24", "0", "1", "168"]);
    const secretId = newIdIn(form);
    const found = await keyOf(id);
    if (found.revoked !== null) return oneKey(id, { fault: "The key is revoked; create another one." });
    try {
      const { key, secret } = await store.rotate(id, Number(grace) * hour, secretId, nameOf(request));
      return secretPage("New secret", key, secret, baseUrl ?? originOf(request));
    } catch (error) {
      if (!(error instanceof SecretExistsError)) throw error;
      const fault = "The key was given this secret already. It was shown then, and is not stored.";
      return oneKey(id, { fault });
    }
  });

  pages.post(`${path}/end`, async (request: KeyRequest) => {
    const { id } = request.params;
    await keyOf(id);
    try {
      await store.endSecret(id, fieldOf(formIn(request), "id") ?? "", nameOf(request));
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
      return oneKey(id, { fault: "The key has no such older secret any more." });
    }
    return oneKey(id, { done: "Ended: requests with that secret are refused from now on." });
  });

  pages.post(`${path}/revoke`, async (request: KeyRequest) => {
    const { id } = request.params;
    const key = await keyOf(id);
    if (fieldOf(formIn(request), "name") !== (key.name.trim() || key.id)) {
      return oneKey(id, { fault: "That is not the name of the key: it was not revoked." });
    }
    await store.revoke(id, nameOf(request));
    return oneKey(id, { done: "Revoked: requests with it are refused from now on." });
  });
};

/** Undefined for an error that is not about one field. */
function refusedForm(form: URLSearchParams, error: unknown): RefusedForm | undefined {
  if (error instanceof NameTakenError) return { form, fault: "Name: another key has it.", field: "name" };
  if (!(error instanceof Refusal) || error.details.field === undefined) return undefined;
  return { form, fault: error.message, field: error.details.field };
}

/** Names of the fields, each with those that belong to it, and what they change. */
const changes = {
  name: [["name"], "Name"],
  limit: [["limit"], "Limit"],
  period: [["period"], "Period"],
  rate: [["rate", "rate_time"], "Requests"],
  expires: [["expires"], "Expires"],
  permissions: [["permissions"], "Permissions"],
} as const satisfies Record<string, readonly [readonly string[], string]>;

/**
 * Returns what a form changes of the key as it was when the page was shown. `is` is the form of the key as it is now.
 * @throws Refusal when somebody else has changed the same meanwhile
 */
function ownChange(form: URLSearchParams, is: URLSearchParams, now: number): KeyChange {
  const was = new URLSearchParams(form.get("was") ?? is.toString());
  const own = (Object.keys(changes) as (keyof typeof changes)[]).filter((name) => {
    const [fields, label] = changes[name];
    const valueIn = (each: URLSearchParams) => fields.map((field) => each.getAll(field).join(", ").trim()).join(" in ");
    if (valueIn(form) === valueIn(was) || valueIn(form) === valueIn(is)) return false;
    if (valueIn(was) === valueIn(is)) return true;
    const value = is.getAll(name).join(", ") || "none";
    const fault = `${label}: somebody has changed it to ${value} since this page was shown; save again to change it all the same.`;
    throw new Refusal(409, fault, { field: name });
  });
  // What was not touched need not be valid any more, such as a day that is over.
  const checked = new URLSearchParams(form);
  if (!own.includes("expires")) checked.set("expires", "");
  const all: KeyChange = { ...changeIn(checked, now), period: choiceOf(form, "period", periods) };
  return Object.fromEntries(own.map((name) => [name, all[name]]));
}

function changeIn(form: URLSearchParams, now: number): KeyChange & { readonly limit: number | null } {
  const name = fieldOf(form, "name");
  if (name === undefined || name.length > 100)
    throw new Refusal(400, "Name: give 1 to 100 characters.", { field: "name" });
  const wanted = permissions.filter((each): each is Permission => form.getAll("permissions").includes(each));
  if (wanted.length === 0)
    throw new Refusal(400, "Permissions: choose emails, domains, or both.", { field: "permissions" });
  const date = fieldOf(form, "expires");
  const expires = date === undefined ? null : timeIn(date, "Expires", "expires");
  if (expires !== null && expires <= now)
    throw new Refusal(400, "Expires: give a day in the future.", { field: "expires" });
  const requests = numberOf(form, "rate", "Requests");
  if (requests === 0) throw new Refusal(400, "Requests: give at least 1, or leave it empty.", { field: "rate" });
  const milliseconds = Number(choiceOf(form, "rate_time", rateTimes));
  const rate = requests === undefined ? null : { requests, milliseconds };
  return { name, permissions: wanted, expires, rate, limit: numberOf(form, "limit", "Limit") ?? null };
}

const keyQueryOf = (query: URLSearchParams): KeyQuery => ({
  search: fieldOf(query, "search") ?? "",
  show: choiceOf(query, "show", ["usable", "ended", "all"]),
  sort: choiceOf(query, "sort", keySorts),
  page: Math.max(1, numberOf(query, "page", "Page") ?? 1),
});

/** The form contains the id, so that sending it twice creates one object. @throws Refusal */
function newIdIn(form: URLSearchParams): string {
  const id = fieldOf(form, "id");
  if (id !== undefined && /^[A-Za-z0-9]{9}$/.test(id)) return id;
  throw new Refusal(400, "The form is incomplete.");
}

const originOf = ({ headers }: FastifyRequest): string => new URL(headers.origin ?? "http://127.0.0.1:8787").origin;
