/** Covers the answers to sandbox keys, which the rules have no part in, and when an answer is rendered. */
import { expect, test } from "vitest";
import { answerItems, type Judge } from "../../src/server/service/validation.js";
import type { ApiKey, Charge } from "../../src/state/service/api-key.js";
import { classifier } from "../support/classifier.js";

const quota = { limit: 0, period: "none" as const, used: 0, left: 0, renewsAt: null };
const key = { id: "k1", isSandbox: true, quota } as unknown as ApiKey;
const fail = () => Promise.reject(new Error("not to be asked"));
const sources = { classifier, till: { charge: fail, hasAnswer: fail } };
const once = { idempotencyKey: undefined, body: Buffer.of() };
const verdictsOn = (items: readonly string[]) => (judge: Judge) => judge(items, true);

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
  const answer = statuses.map((status) => ({ status }));
  expect(await answerItems(sources, key, { kind, ...once }, verdictsOn(names))).toEqual({ answer, statuses, quota });
});

test("an answer is rendered again only if the charge gives other statuses", async () => {
  const renderings: (readonly string[])[] = [];
  const answerWith = (charge: (statuses: readonly string[]) => readonly string[]) => {
    const till = { hasAnswer: fail, charge: async ({ statuses }: Charge) => ({ statuses: charge(statuses), quota }) };
    return answerItems({ classifier, till }, { ...key, isSandbox: false, quota: someLeft }, request, async (judge) => {
      const verdicts = await judge(["annabel.lee@gmail.com", "x@mailinator.com"], true);
      renderings.push(verdicts.map(({ status }) => status));
      return verdicts.map(({ reason = null }) => reason);
    });
  };
  const someLeft = { ...quota, left: 5 };
  const request = { kind: "email" as const, ...once };
  const statuses = ["ok", "disposable"];
  expect(await answerWith((given) => given)).toEqual({
    answer: [null, "disposable-domain: mailinator.com"],
    statuses,
    quota,
  });
  expect(renderings.splice(0)).toEqual([statuses]);
  const granted = ["ok", "quota_exceeded"];
  expect(await answerWith(() => granted)).toEqual({ answer: [null, null], statuses: granted, quota });
  expect(renderings).toEqual([statuses, granted]);
});
