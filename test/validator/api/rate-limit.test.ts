/** Covers the parsing of rate-limit headers and of Retry-After. */
import { describe, expect, test } from "vitest";
import { type HeaderFields, readRateLimit, readRetryAfter } from "../../../src/engines/api/rate-limit.js";

const now = Date.parse("2026-11-21T12:00:00Z");
const date = "Sat, 21 Nov 2026 12:00:00 GMT";

describe("rate-limit headers", () => {
  test.each<[HeaderFields, ReturnType<typeof readRateLimit>]>([
    [{}, {}],
    [{ ratelimit: '"validations";r=997;t=86399' }, { left: 997, renewsIn: 86_399 }],
    [{ ratelimit: '"validations";r=0' }, { left: 0 }],
    // Of two policies, the tighter one counts.
    [{ ratelimit: '"hour";r=50;t=600, "month";r=9;t=90000' }, { left: 9, renewsIn: 90_000 }],
    [{ ratelimit: '"hour";r=0;t=600, "month";r=0;t=90000' }, { left: 0, renewsIn: 90_000 }],
    [{ ratelimit: ['"hour";r=50;t=600', '"month";r=9;t=90000'] }, { left: 9, renewsIn: 90_000 }],
    [{ ratelimit: '"month";r=9;t=90000, "hour";r=50;t=600' }, { left: 9, renewsIn: 90_000 }],
    [{ ratelimit: '"month";r=0;t=90000, "hour";r=0;t=600' }, { left: 0, renewsIn: 90_000 }],
    [{ ratelimit: '"month";r=5;t=9, "hour";r=6;t=90' }, { left: 5, renewsIn: 9 }],
    [{ ratelimit: '"month";r=5, "hour";r=5;t=0' }, { left: 5 }],
    [{ ratelimit: '"month";r=5;t=7, "hour";r=5' }, { left: 5, renewsIn: 7 }],
    [{ ratelimit: '"month";r=5, "hour";r=5;t=7' }, { left: 5, renewsIn: 7 }],
    // A renewal that is no time is left out, and one in the far future is cut to a year.
    [{ ratelimit: '"a";r=5;t=-1' }, { left: 5 }],
    [{ ratelimit: '"a";r=5;t="soon"' }, { left: 5 }],
    [{ ratelimit: '"a";r=5;t=0' }, { left: 5, renewsIn: 0 }],
    [{ ratelimit: '"a";r=5;t=99999999999' }, { left: 5, renewsIn: 31_536_000 }],
    // Version 7 of the draft.
    [{ ratelimit: "limit=100, remaining=40" }, { left: 40 }],
    [{ ratelimit: "limit=100, reset=30" }, {}],
    [{ ratelimit: "remaining=x;;" }, {}],
    [{ ratelimit: "limit=100, remaining=40, reset=30" }, { left: 40, renewsIn: 30 }],
    // Earlier versions.
    [
      { "ratelimit-limit": "100", "ratelimit-remaining": "7", "ratelimit-reset": "60" },
      { left: 7, renewsIn: 60 },
    ],
    [{ "x-ratelimit-remaining": "7" }, { left: 7 }],
    [
      { "x-ratelimit-remaining": "7", "x-ratelimit-reset": "60" },
      { left: 7, renewsIn: 60 },
    ],
    [
      { "x-ratelimit-remaining": "7", "x-ratelimit-reset": String(now / 1000 + 90) },
      { left: 7, renewsIn: 90 },
    ],
    [
      { "x-ratelimit-remaining": "7", "x-ratelimit-reset": String(now + 90_000) },
      { left: 7, renewsIn: 90 },
    ],
    [
      { "x-rate-limit-remaining": "0", "x-rate-limit-reset": "Sat, 21 Nov 2026 12:00:05 GMT" },
      { left: 0, renewsIn: 5 },
    ],
    // The local clock is an hour slow.
    [
      {
        "x-ratelimit-remaining": "1",
        "x-ratelimit-reset": String(now / 1000 + 3690),
        date: "Sat, 21 Nov 2026 13:00:00 GMT",
      },
      { left: 1, renewsIn: 90 },
    ],
    // 1e9 and 1e12 are where a number becomes a time in seconds, and one in milliseconds.
    [
      { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "999999999" },
      { left: 1, renewsIn: 31_536_000 },
    ],
    [
      { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1000000000" },
      { left: 1, renewsIn: 0 },
    ],
    [
      { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "999999999999" },
      { left: 1, renewsIn: 31_536_000 },
    ],
    [
      { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1000000000000" },
      { left: 1, renewsIn: 0 },
    ],
    // An unreadable Date field counts as absent.
    [
      { "x-ratelimit-remaining": "1", "x-ratelimit-reset": String(now / 1000 + 90), date: "today" },
      { left: 1, renewsIn: 90 },
    ],
    // Invalid values are ignored.
    [{ ratelimit: "r=;;" }, {}],
    [{ "x-ratelimit-remaining": "7 days" }, {}],
    [{ "x-ratelimit-remaining": "about 7" }, {}],
    [{ "x-ratelimit-remaining": "1234567890123456" }, {}],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "-2026-11-21" }, { left: 3 }],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "1.5" }, { left: 3 }],
    [
      { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "2026-11-21T12:00:05Z" },
      { left: 3, renewsIn: 5 },
    ],
    [{ ratelimit: '"a";r=-1' }, {}],
    [{ ratelimit: '"a";r="many"' }, {}],
    [{ "x-ratelimit-remaining": "many" }, {}],
    [{ "x-ratelimit-remaining": "3", "x-ratelimit-reset": "soon" }, { left: 3 }],
    [{ ratelimit: "", "ratelimit-remaining": "5" }, { left: 5 }],
  ])("reads %j", (fields, expected) => expect(readRateLimit(fields, now)).toEqual(expected));
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
    [{ "retry-after": "12345678901" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
  ])("reads %j", (fields, expected) => expect(readRetryAfter(fields, now)).toBe(expected));
});
