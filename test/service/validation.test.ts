/** Covers the answers to sandbox keys, which the rules have no part in. */
import { expect, test } from "vitest";
import { explainItems, validateItems } from "../../src/server/service/validation.js";
import type { ApiKey } from "../../src/state/service/api-key.js";
import { classifier } from "../support/classifier.js";

const quota = { limit: 0, period: null, used: 0, left: 0, renewsAt: null };
const key = { id: "k1", isSandbox: true, quota } as unknown as ApiKey;
const fail = () => Promise.reject(new Error("not to be asked"));
const sources = { classifier, till: { charge: fail, hasAnswer: fail } };
const once = { idempotencyKey: undefined, body: Buffer.of() };

test.each<["email" | "domain", Record<string, string>]>([
  [
    "email",
    {
      "ann@disposable.com": "disposable",
      "a@@fake.com": "fake",
      "ann+news@alias.com": "alias",
      "x@mailinator.com": "ok",
    },
  ],
  ["domain", { "disposable.com": "disposable", "alias.com": "ok", "mailinator.com": "ok" }],
])("a sandbox key gets its statuses for kind %s without a charge and without reasons", async (kind, items) => {
  const [names, statuses] = [Object.keys(items), Object.values(items)];
  expect(await validateItems(sources, key, kind, names, once)).toEqual({ statuses, quota });
  expect(await explainItems(sources, key, kind, names, statuses)).toEqual(statuses.map((status) => ({ status })));
});
