/** The names of the flags, apart from what finds them, which the options need not load. */

/** Flags of an item itself, in the order in which they are given. */
export const itemFlags = [
  /** The mailbox of a function, such as `sales@`. */
  "role",
  /** A provider where anybody can have a mailbox. */
  "free-provider",
  /** Nobody reads it. */
  "no-reply",
  /** Forwards to a mailbox that is not told. */
  "relay",
  /** Becomes a text message on a telephone. */
  "sms-gateway",
  /** One of many spellings of a mailbox whose provider ignores dots, as in `a.n.n.lee@gmail.com`. */
  "dotted-variant",
  /** Typed to get past a form, such as `asdasd@`. */
  "gibberish",
] as const;

/**
 * One of {@link itemFlags}, or from the MX host: `parked`, mail goes to a host for domains that are for sale; `mx:google`, the
 * service that receives the mail.
 */
export type Flag = (typeof itemFlags)[number] | "parked" | `mx:${string}`;

/** What a flag says, for people who do not know its name. */
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
