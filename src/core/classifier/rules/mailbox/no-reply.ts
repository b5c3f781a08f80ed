/** The rule for domains whose mail nobody reads. */
import type { MailboxRule } from "../rule.js";

const noReplyDomain = "users.noreply.github.com";

export const noReply = {
  code: "no-reply",
  status: "fake",
  words: "no-reply",
  plainly: "nobody reads it",
  source: "GitHub Docs, about addresses for commits",
  forPerson: "Nobody reads mail at this address. Please give another one.",
  example: "`no-reply: users.noreply.github.com`",
  names: [noReplyDomain],
  at: (ascii) =>
    ascii === noReplyDomain ? { find: () => ({ subject: ascii }), kernel: { isForAll: true } } : undefined,
} as const satisfies MailboxRule;
