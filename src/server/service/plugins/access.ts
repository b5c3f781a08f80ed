/** Finds the key of a request, and tells clients what is left of its quota. */
import type { FastifyReply, FastifyRequest } from "fastify";
import plugin from "fastify-plugin";
import { GroupCommit } from "../../../state/group-commit.js";
import type { Period } from "../../../state/quota/period.js";
import type { ApiKey, Permission } from "../../../state/service/api-key.js";
import { secretPattern } from "../../../state/service/secrets.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { Refusal } from "../../refusal.js";
import { keySearch } from "../key-search.js";
import type { Metrics } from "../metrics.js";

interface AccessOptions {
  readonly store: Pick<ServiceStore, "findAll" | "takeTurns" | "now">;
  readonly metrics: Pick<Metrics, "timed" | "rateRefusals">;
}

export const access = plugin<AccessOptions>(async (service, { store, metrics }) => {
  const findKey = keySearch((secrets) => metrics.timed("find", store.findAll(secrets)));
  // Requests of a key that arrive together take their turns together.
  const turns = new GroupCommit<string, number>(async (group) => {
    const { granted, wait } = await store.takeTurns(group[0]!, group.length);
    return group.map((_, i) => (i < granted ? 0 : wait));
  });
  const takeTurn = async ({ id, rate }: ApiKey) => {
    const wait = await turns.add(id, id);
    if (wait === 0) return;
    metrics.rateRefusals.inc();
    const { requests, milliseconds } = rate!;
    const text = `Too many requests: at most ${requests} in ${milliseconds / 1000} s.`;
    throw new Refusal(429, text, { code: "rate_limited", retryAfter: Math.ceil(wait / 1000) });
  };
  service.decorateRequest("apiKey", undefined);
  service.decorateRequest("authorise", async function (this: FastifyRequest, field?: Permission) {
    const { authorization = "" } = this.headers;
    const key = await findKey(bearerOf(authorization));
    if (key === undefined) throw new Refusal(401, /^Bearer /i.test(authorization) ? "Unauthorized." : withoutKey);
    if (key.rate !== null && this.apiKey === undefined) await takeTurn(key);
    this.apiKey = key;
    if (field !== undefined && !key.permissions.includes(field))
      throw new Refusal(403, `This key may not validate ${field}.`);
    return key;
  });
  service.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode === 401) reply.header("www-authenticate", challengeTo(request));
    if (request.apiKey) setRateLimit(reply, request.apiKey, store.now());
    return payload;
  });
});

declare module "fastify" {
  interface FastifyRequest {
    apiKey: ApiKey | undefined;
    /** Keeps the key for the RateLimit fields. @throws Refusal with 401, with 403 (no permission), 429 (its rate) */
    authorise(field?: Permission): Promise<ApiKey>;
  }
}

const withoutKey = "Unauthorized: send the key as Authorization: Bearer KEY.";

function bearerOf(authorization: string): string | undefined {
  const token = /^Bearer +([\x21-\x7e]{1,256})$/i.exec(authorization)?.[1];
  return token !== undefined && secretPattern.test(token) ? token : undefined;
}

/** RFC 6750 §3: an error is named only to clients that have sent a key. */
const challengeTo = ({ headers }: FastifyRequest): string =>
  `Bearer realm="idv"${headers.authorization === undefined ? "" : ', error="invalid_token"'}`;

/** Lengths in seconds. A month counts as 30 days. */
const windowSeconds: Readonly<Record<Period, number | undefined>> = {
  none: undefined,
  hour: 3600,
  day: 86_400,
  month: 2_592_000,
};

/** RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers, as far as the key has limits. */
function setRateLimit(reply: FastifyReply, { quota, rate }: ApiKey, now: number): void {
  const { limit, left, period, renewsAt } = quota;
  const policies: string[] = [];
  if (limit !== null) {
    const window = windowSeconds[period];
    policies.push(`"validations";q=${limit}${window === undefined ? "" : `;w=${window}`}`);
    const until = renewsAt === null ? "" : `;t=${secondsUntil(renewsAt, now)}`;
    reply.header("RateLimit", `"validations";r=${left}${until}`);
  }
  if (rate !== null) policies.push(`"requests";q=${rate.requests};w=${rate.milliseconds / 1000}`);
  if (policies.length > 0) reply.header("RateLimit-Policy", policies.join(", "));
}

/** Returns at least 1. `time` and `now` are in milliseconds since the epoch. */
export const secondsUntil = (time: number, now: number): number => Math.max(1, Math.ceil((time - now) / 1000));
