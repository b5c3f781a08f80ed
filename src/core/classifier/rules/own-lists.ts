/** The reasons of the user's own lists, which override all rules but the syntax. ../tables/own-lists.ts looks up items. */
import type { ReasonRecord } from "./rule.js";

export const allowList = {
  code: "allow-list",
  status: "ok",
  words: "on your allow list",
  source: "your own allow list",
  forPerson: "This address is accepted.",
  example: "`allow-list: gmial.com`, from your own list",
} as const satisfies ReasonRecord;

export const denyList = {
  code: "deny-list",
  status: "disposable",
  words: "on your deny list",
  source: "your own deny list",
  forPerson: "We do not accept this address. Please give another one.",
  example: "`deny-list: larch-and-oak.com`, from your own list",
} as const satisfies ReasonRecord;
