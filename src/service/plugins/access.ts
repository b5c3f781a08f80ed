/** Finds the key of a request, and tells clients what is left of its quota. */
import type { FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import type { Period } from "../../store/quota/period.js";
import type { Quota } from "../../store/quota/quota.js";
import type { ApiKey, Permission, ServiceStore } from "../../store/state/service-store.js";
import { Refusal } from "../refusals.js";

interface AccessOptions {
  readonly store: Pick<ServiceStore, "find">;
  readonly now: () => number;
}

export const access = plugin<AccessOptions>(async (service, { store, now }) => {
  service.decorateRequest("apiKey", undefined);
  service.decorateRequest("authorise", async function (this: FastifyRequest, field: Permission) {
    const key = await store.find(bearerOf(this.headers.authorization));
    this.apiKey = key;
    if (key === undefined) throw new Refusal(401, "Unauthorized.");
    if (!key.permissions.includes(field)) throw new Refusal(403, `This key may not validate ${field}.`);
    return key;
  });
  service.addHook("onSend", async (request, reply, payload) => {
    if (request.apiKey) setRateLimit(reply, request.apiKey.quota, now());
    return payload;
  });
});

declare module "fastify" {
  interface FastifyRequest {
    apiKey: ApiKey | undefined;
    /**
     * Returns the key of the request, and keeps it for the RateLimit fields.
     *
     * @throws Refusal with 401 for an invalid key, with 403 for a key without the permission
     */
    authorise(field: Permission): Promise<ApiKey>;
  }
}

/** Returns the secret in an Authorization header, or "", which no key has. */
function bearerOf(authorization: string | undefined): string {
  return /^Bearer +([\x21-\x7e]{1,256})$/i.exec(authorization ?? "")?.[1] ?? "";
}

/** Length of each period in seconds, for RateLimit-Policy. A month counts as 30 days. */
const windowSeconds: Readonly<Record<Period, number | undefined>> = {
  none: undefined,
  hour: 3600,
  day: 86_400,
  month: 2_592_000,
};

/**
 * Sets the RateLimit-Policy and RateLimit headers (draft-ietf-httpapi-ratelimit-headers), unless the key has no limit.
 *
 * @param now milliseconds since the epoch
 */
function setRateLimit(reply: FastifyReply, { limit, left, period, renewsAt }: Quota, now: number): void {
  if (limit === null) return;
  const window = windowSeconds[period];
  reply.header("RateLimit-Policy", `"validations";q=${limit}${window === undefined ? "" : `;w=${window}`}`);
  const until = renewsAt === null ? "" : `;t=${secondsUntil(renewsAt, now)}`;
  reply.header("RateLimit", `"validations";r=${left}${until}`);
}

/** Returns the whole seconds from `now` to `time`, at least 1. Both are in milliseconds since the epoch. */
export const secondsUntil = (time: number, now: number): number =>
  Math.max(1, Math.ceil((time - now) / 1000));
