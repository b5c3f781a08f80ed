/** The codes of reasons, as people say them. */
import type { ClassifierStatus, ReasonCode } from "../classifier/verdict.js";

/** The words for each reason. */
export const reasonWords: Readonly<Record<ReasonCode, string>> = {
  "allow-list": "on your allow list",
  relay: "private relay",
  "sub-address": "sub-address",
  "disposable-domain": "disposable domain",
  "deny-list": "on your deny list",
  "disposable-mx": "mail server of a disposable service",
  syntax: "syntax",
  "special-use": "reserved domain",
  "unknown-tld": "no such top-level domain",
  "public-suffix": "public suffix",
  "typo-domain": "mistyped domain",
  "no-reply": "no-reply",
  "impossible-mailbox": "impossible mailbox",
  placeholder: "placeholder",
  "no-such-domain": "no such domain",
  "null-mx": "domain refuses mail",
  "no-mail-server": "no mail server",
};

/** The reasons that lead to each status. */
export const reasonsFor: Readonly<Record<ClassifierStatus, readonly ReasonCode[]>> = {
  ok: ["allow-list"],
  alias: ["relay", "sub-address"],
  disposable: ["disposable-domain", "deny-list", "disposable-mx"],
  fake: [
    ...(["syntax", "special-use", "unknown-tld", "public-suffix", "typo-domain", "no-reply"] as const),
    ...(["impossible-mailbox", "placeholder", "no-such-domain", "null-mx", "no-mail-server"] as const),
  ],
};
