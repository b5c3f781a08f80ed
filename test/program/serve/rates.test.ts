/** Covers the rates of keys: exact over several servers, on both databases. */
import { describe, expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { post, serve } from "../../support/service.js";
import { createKeyIn, databases, jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

describe.each(await databases())("on %s", (_, newState) => {
  test("servers together grant the rate of a key, and tell it apart from the end of the quota", async () => {
    const state = await newState();
    const key = await createKeyIn(state, "--rate", "40/m", "--limit", "1000");
    const other = await createKeyIn(state);
    const start = () => serve(temporaryFolder(), "-q", "--state", state);
    const urls = (await Promise.all([start(), start(), start()])).map(({ url }) => url);
    const body = { domains: ["mailinator.com"] };
    const send = (i: number, secret = key) => post(`${urls[i % 3]}/domains/validate`, secret, body);
    const begun = performance.now();
    let granted = 0;
    let refused: Awaited<ReturnType<typeof send>> | undefined;
    // The whole bucket, which a slow machine empties, too, and what three more seconds grant.
    const senders = Array.from({ length: 12 }, async (_, i) => {
      while (granted < 42 || refused === undefined) {
        const answer = await send(i);
        if (answer.status === 200) granted++;
        // 503 where the machine is busy.
        else if (answer.status === 429) refused = answer;
      }
    });
    await Promise.all(senders);
    const elapsed = (performance.now() - begun) / 1000;
    // The bucket is full at the start.
    expect(granted).toBeLessThanOrEqual(Math.ceil(1.05 * 40 * (elapsed / 60 + 1)));
    const message = "Too many requests: at most 40 in 60 s.";
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", message } });
    expect(Number(refused!.headers.get("retry-after"))).toBeLessThanOrEqual(2);
    expect((await send(0, other)).status).toBe(200);
    const [listed] = await jsonOf(["keys", "list", "--state", state]);
    expect(listed).toMatchObject({ rate: "40/m", used: granted });
    const policy = async () => (await send(0)).headers.get("ratelimit-policy");
    await expect.poll(policy).toBe('"validations";q=1000, "requests";q=40;w=60');
    expect((await idv(["keys", "set", listed.id, "--rate", "none", "--limit", "0", "--state", state])).code).toBe(0);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => send(i)));
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(["quota_exhausted"]));
  });
});
