/** Limits that the help states too. A file of its own, so that no command loads the resolver for them. */

/** Most queries in flight. More bring nothing: over loopback, 32 and 64 take the same time. */
export const mostInFlight = 64;
