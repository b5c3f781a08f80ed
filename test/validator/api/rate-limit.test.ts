/** Covers the parsing of rate-limit headers and of Retry-After. */
import { describe, expect, test } from "vitest";
import { type HeaderFields, readRateLimit, readRetryAfter } from "../../../src/engines/api/rate-limit.js";

const now = Date.parse("2026-11-21T12:00:00Z");
const date = "Sat, 21 Nov 2026 12:00:00 GMT";

describe("rate-limit headers", () => {
  test.each<[HeaderFields, left?: number, renewsIn?: number]>([
    [{}],
    [{ ratelimit: '"validations";r=997;t=86399' }, 997, 86_399],
    [{ ratelimit: '"validations";r=0' }, 0],
    // Of two policies, the tighter one counts.
    [{ ratelimit: '"hour";r=50;t=600, "month";r=9;t=90000' }, 9, 90_000],
    [{ ratelimit: '"hour";r=0;t=600, "month";r=0;t=90000' }, 0, 90_000],
    [{ ratelimit: ['"hour";r=50;t=600', '"month";r=9;t=90000'] }, 9, 90_000],
    [{ ratelimit: '"month";r=9;t=90000, "hour";r=50;t=600' }, 9, 90_000],
    [{ ratelimit: '"month";r=0;t=90000, "hour";r=0;t=600' }, 0, 90_000],
    [{ ratelimit: '"month";r=5;t=9, "hour";r=6;t=90' }, 5, 9],
    [{ ratelimit: '"month";r=5, "hour";r=5;t=0' }, 5],
    [{ ratelimit: '"month";r=5;t=7, "hour";r=5' }, 5, 7],
    [{ ratelimit: '"month";r=5, "hour";r=5;t=7' }, 5, 7],
    // A renewal that is no time is left out, and one in the far future is cut to a year.
    [{ ratelimit: '"a";r=5;t=-1' }, 5],
    [{ ratelimit: '"a";r=5;t="soon"' }, 5],
    [{ ratelimit: '"a";r=5;t=0' }, 5, 0],
    [{ ratelimit: '"a";r=5;t=99999999999' }, 5, 31_536_000],
    // Version 7 of the draft.
    [{ ratelimit: "limit=100, remaining=40" }, 40],
    [{ ratelimit: "limit=100, reset=30" }],
    [{ ratelimit: "remaining=x;;" }],
    [{ ratelimit: "limit=100, remaining=40, reset=30" }, 40, 30],
    // Earlier versions.
    [{ "ratelimit-limit": "100", "ratelimit-remaining": "7", "ratelimit-reset": "60" }, 7, 60],
    [{ "x-ratelimit-remaining": "7" }, 7],
    [{ "x-ratelimit-remaining": "7", "x-ratelimit-reset": "60" }, 7, 60],
    [{ "x-ratelimit-remaining": "7", "x-ratelimit-reset": String(now / 1000 + 90) }, 7, 90],
    [{ "x-ratelimit-remaining": "7", "x-ratelimit-reset": String(now + 90_000) }, 7, 90],
    [{ "x-rate-limit-remaining": "0", "x-rate-limit-reset": "Sat, 21 Nov 2026 12:00:05 GMT" }, 0, 5],
    // The local clock is an hour slow.
    [
      {
        "x-ratelimit-remaining": "1",
        "x-ratelimit-reset": String(now / 1000 + 3690),
        date: "Sat, 21 Nov 2026 13:00:00 GMT",
      },
      1,
      90,
    ],
    // 1e9 and 1e12 are where a number becomes a time in seconds, and one in milliseconds.
    [{ "x-ratelimit-remaining": "1", "x-ratelimit-reset": "999999999" }, 1, 31_536_000],
    [{ "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1000000000" }, 1, 0],
    [{ "x-ratelimit-remaining": "1", "x-ratelimit-reset": "999999999999" }, 1, 31_536_000],
    [{ "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1000000000000" }, 1, 0],
    // An unreadable Date field counts as absent.
    [{ "x-ratelimit-remaining": "1", "x-ratelimit-reset": String(now / 1000 + 90), date: "today" }, 1, 90],
    // Invalid values are ignored.
    [{ ratelimit: "r=;;" }],
    [{ "x-ratelimit-remaining": "7 days" }],
    [{ "x-ratelimit-remaining": "about 7" }],
    [{ "x-ratelimit-remaining": "1234567890123456" }],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "-2026-11-21" }, 3],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "1.5" }, 3],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "2026-11-21T12:00:05Z" }, 3, 5],
    [{ ratelimit: '"a";r=-1' }],
    [{ ratelimit: '"a";r="many"' }],
    [{ "x-ratelimit-remaining": "many" }],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "soon" }, 3],
    [{ ratelimit: "", "ratelimit-remaining": "5" }, 5],
  ])("reads %j", (fields, left, renewsIn) => {
    expect(readRateLimit(fields, now)).toEqual({ left, renewsIn });
  });
});

describe("Retry-After", () => {
  test.each<[HeaderFields, number | undefined]>([
    [{}, undefined],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "120" }, 120],
    [{ "retry-after": " 2 " }, 2],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }, 30],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT", date }, 30],
    // The service's clock counts, not the local one.
    [{ "retry-after": "Sat, 21 Nov 2026 18:00:30 GMT", date: "Sat, 21 Nov 2026 18:00:00 GMT" }, 30],
    [{ "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, 0],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "1.25" }, 1.25],
    [{ "retry-after": "1.x" }, undefined],
    [{ "retry-after": "5 s" }, undefined],
    [{ "retry-after": "5-6" }, undefined],
    [{ "retry-after": "4 Jan 2027" }, undefined],
    [{ "retry-after": "9999999999" }, 31_536_000],
    [{ "retry-after": "12345678901" }, 31_536_000],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
  ])("reads %j", (fields, expected) => expect(readRetryAfter(fields, now)).toBe(expected));
});
