/** Rates of keys: the generic cell rate algorithm (ITU-T I.371), whose state is one time that servers share. */
import { ask, type Clock, clock, tell, type Work } from "../sql.js";

export interface RequestRate {
  readonly requests: number;
  readonly milliseconds: number;
}

export type Turns = { readonly granted: number; readonly wait: number };

/** `rate_at`: microseconds since the epoch at which the bucket will be unused. */
export interface RateRow {
  rate_requests: number | null;
  rate_milliseconds: number | null;
  rate_at: number | null;
}

export const rateOf = ({ rate_requests, rate_milliseconds }: RateRow): RequestRate | null =>
  rate_requests === null || rate_milliseconds === null
    ? null
    : { requests: rate_requests, milliseconds: rate_milliseconds };

/** Grants up to `wanted` requests; all, if the key has no rate. */
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
