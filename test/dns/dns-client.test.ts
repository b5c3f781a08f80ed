/** Covers how often names are asked, and which answers count, against a server over loopback. */
import { describe, expect, test } from "vitest";
import { DnsClient } from "../../src/engines/dns/dns-client.js";
import { startDnsServer } from "../support/dns-server.js";
import { some, times } from "../support/tier.js";

/** Asks about all names at once, as far as the client has slots. */
async function askAll(address: string, names: readonly string[], concurrency = 64) {
  const client = new DnsClient({ servers: [address], concurrency });
  const answers = await Promise.all(names.map((name) => client.ask((resolver) => resolver.resolveMx(name))));
  client.cancel();
  return answers;
}

function mostOf(asked: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const question of asked) counts.set(question, (counts.get(question) ?? 0) + 1);
  return Math.max(...counts.values());
}

describe("a name that fails", () => {
  test("late is asked four times at most, and the other names are not asked more often for it", async () => {
    const seen = new Set<string>();
    const delayOf = (name: string) => {
      const isFirst = !seen.has(name);
      seen.add(name);
      return isFirst && name.startsWith("servfail") ? 400 : 0;
    };
    const server = await startDnsServer({ delayOf });
    const names = Array.from({ length: 1020 }, (_, i) => `${i % 51 === 0 ? "servfail" : "ok"}-${i}.net`);
    const answers = await askAll(server.address, names);
    expect(answers.filter((answer) => "failure" in answer && answer.failure === "SERVFAIL")).toHaveLength(20);
    expect(answers.filter((answer) => "records" in answer)).toHaveLength(1000);
    expect(mostOf(server.asked)).toBeLessThanOrEqual(4);
    expect(server.asked.length).toBeLessThanOrEqual(1250);
  });

  test.each(some(["silence", "servfail", "refused", "nonsense"], 2))(
    "by %s is asked four times at most",
    async (word) => {
      const names = Array.from({ length: 10 }, (_, i) => `${word}-${i}.net`);
      const askAfter = async (delay: number) => {
        const server = await startDnsServer({ delay });
        const answers = await askAll(server.address, [...names, "ok-1.net"]);
        expect(answers.map((answer) => "failure" in answer)).toEqual([...names.map(() => true), false]);
        expect(mostOf(server.asked)).toBeLessThanOrEqual(4);
      };
      await Promise.all([0, 300].map(askAfter));
    },
  );

  test("once by SERVFAIL is asked again after a pause", async () => {
    const server = await startDnsServer();
    const answers = await askAll(server.address, ["once-1.net", "servfail-1.net"]);
    expect(answers).toEqual([{ records: [expect.anything()] }, { failure: "SERVFAIL" }]);
    expect(server.asked.filter((question) => question === "MX servfail-1.net")).toHaveLength(2);
  });
});

test("an answer that comes after its query was sent again is an answer", async () => {
  const server = await startDnsServer({ delay: 900 });
  const names = Array.from({ length: times(30, 8) }, (_, i) => `ok-${i}.net`);
  // Fast answers first, so that the wait for the slow ones is short.
  const quick = await startDnsServer({ delayOf: (name) => (name.startsWith("ok") ? 900 : 0) });
  let slowest = 0;
  for (const [address, before] of [
    [server.address, []],
    [quick.address, Array.from({ length: 50 }, (_, i) => `many-${i}.net`)],
  ] as const) {
    const client = new DnsClient({ servers: [address], concurrency: 8 });
    for (const name of before) await client.ask((resolver) => resolver.resolve4(name));
    const answers = await Promise.all(
      names.map(async (name) => {
        let begun: number | undefined;
        const answer = await client.ask((resolver) => {
          begun ??= performance.now();
          return resolver.resolveMx(name);
        });
        slowest = Math.max(slowest, performance.now() - begun!);
        return answer;
      }),
    );
    client.cancel();
    expect(answers.every((answer) => "records" in answer)).toBe(true);
  }
  // After 200 and 400 ms, and on a busy machine, where an answer waits for this process, after another 800.
  expect(mostOf(quick.asked)).toBeLessThanOrEqual(slowest < 1400 ? 3 : 4);
});
