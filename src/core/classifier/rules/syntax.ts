/** Names that RFC 5321 allows but that receive no mail: without a dot, or with a numeric top-level domain. */
import { nine } from "../../ascii.js";
import { lastDotBefore } from "../tables/suffix-walk.js";
import { findMeant } from "./domain/typo-domain.js";
import type { DomainRule } from "./rule.js";

export const syntax = {
  code: "syntax",
  status: "fake",
  words: "syntax",
  plainly: "not written as an address",
  source: "RFC 5321, section 4.1.2, and RFC 6531",
  forPerson: "This is not a complete e-mail address. Please check the spelling.",
  example: "`syntax: two dots in a row at 5`",
  find(ascii) {
    const lastDot = lastDotBefore(ascii, ascii.length);
    if (lastDot === -1) return { subject: "a domain without a dot", suggestion: findMeant(ascii) };
    const endsWithDigit = ascii.charCodeAt(ascii.length - 1) <= nine;
    const isNumeric = endsWithDigit && /^\d+$/.test(ascii.slice(lastDot + 1));
    return isNumeric ? { subject: "a numeric top-level domain" } : undefined;
  },
} as const satisfies DomainRule;
