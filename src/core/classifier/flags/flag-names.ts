/** Names of the flags, without their rules, so that the options load quickly. */

export const itemFlags = [
  "role",
  "free-provider",
  "no-reply",
  "relay",
  "sms-gateway",
  "dotted-variant",
  "gibberish",
] as const;

/** One of {@link itemFlags}, or from the MX host: `parked` (for sale), `mx:google` (the service). */
export type Flag = (typeof itemFlags)[number] | "parked" | `mx:${string}`;

export const flagWords: Readonly<Record<(typeof itemFlags)[number] | "parked", string>> = {
  role: "mailbox of a function (role)",
  "free-provider": "free provider",
  "no-reply": "nobody reads it (no-reply)",
  relay: "forwards to another mailbox (relay)",
  "sms-gateway": "becomes a text message (sms-gateway)",
  "dotted-variant": "one of many spellings of a mailbox (dotted-variant)",
  gibberish: "typed to get past a form (gibberish)",
  parked: "domain for sale (parked)",
};
