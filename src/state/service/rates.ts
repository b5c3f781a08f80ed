/**
 * Rates of keys, as a token bucket for requests (the generic cell rate algorithm, ITU-T I.371): a single time tells how
 * much of the bucket is used. It is in the state, so that all servers together grant no more.
 */
import { ask, type Clock, clock, tell, type Work } from "../sql.js";

/** Requests that a key may send in a time, evenly or all at once. */
export interface RequestRate {
  readonly requests: number;
  readonly milliseconds: number;
}

export interface Turns {
  readonly granted: number;
  /** Time until another request is granted, in milliseconds; 0 if all were. */
  readonly wait: number;
}

/** Columns of a key. `rate_at`: microseconds since the epoch at which the bucket will be unused. */
export interface RateRow {
  rate_requests: number | null;
  rate_milliseconds: number | null;
  rate_at: number | null;
}

export const rateOf = ({ rate_requests, rate_milliseconds }: RateRow): RequestRate | null =>
  rate_requests === null || rate_milliseconds === null
    ? null
    : { requests: rate_requests, milliseconds: rate_milliseconds };

/** Takes turns for requests of a key, as many as its bucket has. A key without a rate has all. */
export function* takeTurns(keyId: string, wanted: number): Work<Turns> {
  const [[row], [{ now }]] = yield* ask<[RateRow[], [Clock]]>(
    ["SELECT rate_requests, rate_milliseconds, rate_at FROM {key} WHERE id = ? {lock}", keyId],
    clock,
  );
  const rate = row && rateOf(row);
  if (rate == null) return { granted: wanted, wait: 0 };
  const size = rate.milliseconds * 1000;
  const interval = size / rate.requests;
  const time = now * 1000;
  // A clock that was ahead does not lock the key.
  const unused = Math.min(Math.max(row!.rate_at ?? 0, time), time + size);
  const granted = Math.min(wanted, Math.floor((time + size - unused) / interval + 1e-6));
  const after = Math.round(unused + granted * interval);
  if (granted > 0) yield* tell(["UPDATE {key} SET rate_at = ? WHERE id = ?", after, keyId]);
  const wait = granted === wanted ? 0 : Math.max(1, Math.ceil((after + interval - size - time) / 1000));
  return { granted, wait };
}
