/** Covers the pace of queries: servers that limit them, lose some, or answer nothing for a while, over a clock of numbers. */
import { describe, expect, test } from "vitest";
import { Pace } from "../../src/engines/dns/pace.js";

/** Answers a query at a time; false for silence. */
type Server = (now: number) => boolean;

/** A server that counts what it does not answer, too, by whole seconds, as BIND's `all-per-second` does. */
function limited(limit: number): Server {
  let [balance, second] = [limit, 0];
  return (now) => {
    const passed = Math.floor(now / 1000) - second;
    second += passed;
    balance = Math.min(limit, balance + passed * limit);
    return balance-- > 0;
  };
}

/** Sends queries with 64 in flight, each until it is answered or four tries have failed. Times are in milliseconds. */
function run(server: Server, queries: number, most = Number.POSITIVE_INFINITY) {
  const pace = new Pace(most);
  const events: { at: number; work: (now: number) => void }[] = [];
  const later = (at: number, work: (now: number) => void) => events.push({ at, work });
  let [started, lost, sent, end] = [0, 0, 0, 0];
  const next = (now: number) => {
    if (started++ < queries) tryOnce(now, 0);
  };
  function tryOnce(now: number, tries: number): void {
    later(pace.turn(now), (at) => {
      const number = tries === 0 ? pace.start() : undefined;
      sent++;
      const isAnswered = server(at);
      later(at + (isAnswered ? 1 : 25 * 4 ** tries), (then) => {
        end = then;
        pace.end(number, then, isAnswered);
        if (!isAnswered && tries < 3) return tryOnce(then, tries + 1);
        if (!isAnswered) lost++;
        next(then);
      });
    });
  }
  for (let i = 0; i < 64; i++) next(0);
  while (events.length > 0) {
    const first = events.reduce((best, { at }, i) => (at < events[best]!.at ? i : best), 0);
    const [{ at, work }] = events.splice(first, 1) as [(typeof events)[0]];
    work(at);
  }
  return { lost, sent, seconds: end / 1000, isLimited: pace.isLimited };
}

describe("the pace of queries", () => {
  test.each([
    [50, 1000],
    [100, 2000],
    [400, 4000],
    [1000, 6000],
  ])("stays below the limit of a server that answers %i a second", (limit, queries) => {
    const { lost, sent, seconds } = run(limited(limit), queries);
    // The client asks about these a second time.
    expect(lost).toBeLessThan(0.06 * queries);
    expect(sent).toBeLessThan(1.25 * queries + 200);
    expect(seconds).toBeLessThan(1.4 * (queries / limit) + 3);
  });

  test("does not drop for a server that loses a few queries, or for names that nobody answers for", () => {
    let query = 0;
    const { lost, isLimited } = run(() => query++ % 20 !== 7, 5000);
    expect({ lost, isLimited }).toEqual({ lost: 0, isLimited: false });
    const silent = run(() => ++query % 10 > 2, 2000);
    expect(silent.isLimited).toBe(false);
  });

  test("recovers after an outage within seconds", () => {
    const { seconds } = run((now) => now < 50 || now > 4000, 20_000);
    expect(seconds).toBeLessThan(15);
  });

  test("stays within what the user allows", () => {
    const { seconds, sent } = run(() => true, 500, 100);
    expect(sent).toBe(500);
    expect(seconds).toBeGreaterThan(4.9);
    expect(seconds).toBeLessThan(5.1);
  });
});
