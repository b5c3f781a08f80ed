/** Covers the answers to sandbox keys, which the rules have no part in, and when an answer is rendered. */
import { describe, expect, test } from "vitest";
import type { Verdict } from "../../src/core/validator/validator.js";
import { answerItems } from "../../src/server/service/validation.js";
import type { ApiKey, Charge } from "../../src/state/service/api-key.js";
import { classifier } from "../support/classifier.js";

const quota = { limit: 0, period: "none" as const, used: 0, left: 0, renewsAt: null };
const key = { id: "k1", isSandbox: true, quota } as unknown as ApiKey;
const fail = () => Promise.reject(new Error("not to be asked"));
const sources = { classifier, till: { charge: fail, hasAnswer: fail } };
const once = { idempotencyKey: undefined, body: Buffer.of() };
const all = async (_: unknown, verdicts: readonly Verdict[]) => verdicts;

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
  for (const hasDetails of [true, false]) {
    const request = { kind, ...once, hasDetails, items: () => names };
    expect(await answerItems(sources, key, request, all)).toEqual({ answer, statuses, quota });
  }
});

describe("an answer is rendered", () => {
  const items = ["annabel.lee@gmail.com", "x@mailinator.com"];
  const statuses = ["ok", "disposable"];
  const someLeft = { ...key, isSandbox: false, quota: { ...quota, left: 5 } };

  /** Returns the reasons in the answer, and the steps to it. */
  async function answerWith(hasDetails: boolean, charged: readonly string[]) {
    const steps: string[] = [];
    const charge = async (wanted: Charge) => {
      expect(wanted.statuses).toEqual(statuses);
      steps.push("charge");
      return { statuses: charged, quota };
    };
    const request = { kind: "email" as const, ...once, hasDetails, items: () => items };
    const outcome = await answerItems(
      { classifier, till: { hasAnswer: fail, charge } },
      someLeft,
      request,
      async (_, all) => {
        steps.push(all.map(({ status }) => status).join(" "));
        return all.map(({ reason = null }) => reason);
      },
    );
    expect(outcome).toMatchObject({ statuses: charged, quota });
    return { steps, reasons: (outcome as { answer: unknown }).answer };
  }

  test("before the charge, and again only if it gives other statuses", async () => {
    expect((await answerWith(false, [...statuses])).steps).toEqual(["ok disposable", "charge"]);
    const granted = ["ok", "quota_exceeded"];
    expect((await answerWith(false, granted)).steps).toEqual(["ok disposable", "charge", "ok quota_exceeded"]);
  });

  test("after the charge if it has details, which are those of the statuses that were charged", async () => {
    const reason = "disposable-domain: mailinator.com";
    expect(await answerWith(true, statuses)).toEqual({ steps: ["charge", "ok disposable"], reasons: [null, reason] });
    const stored = ["alias", "disposable"];
    expect(await answerWith(true, stored)).toEqual({ steps: ["charge", "alias disposable"], reasons: [null, reason] });
  });
});
