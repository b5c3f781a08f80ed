/** What help and summary say about DNS. A file of its own, so that a run without `--dns` loads nothing else of this room. */

/** Most queries in flight. More bring nothing: over loopback, 32 and 64 take the same time. */
export const mostInFlight = 64;

/** Why a domain stayed undecided. */
export const undecidedCauses = [
  "timeout",
  "SERVFAIL",
  "REFUSED",
  "no connection",
  "invalid answer",
  "not asked",
] as const;
export type UndecidedCause = (typeof undecidedCauses)[number];
