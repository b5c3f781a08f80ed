/** Applies the mailbox rules. `judgeMailbox` in the kernel has the same: a verdict must depend on nothing else. */
import { providerFamily } from "../../providers.js";
import { type Classification, verdictOf } from "../../verdict.js";
import type { MailboxRule, MailboxTest } from "../rule.js";
import { mailboxRules } from "../rules.js";
import { threeOf } from "./placeholder.js";
import { subAddress } from "./sub-address.js";

export type MailboxTests = readonly { readonly rule: MailboxRule; readonly test: MailboxTest }[];

/** The tests for most domains: nothing is known of their mailboxes. Compared by identity: never copy it. */
export const ordinaryMailboxes: MailboxTests = [{ rule: subAddress, test: subAddress.at("") }];

export function findMailboxTests(ascii: string): MailboxTests {
  if (!mayHaveRules(ascii)) return ordinaryMailboxes;
  const family = providerFamily(ascii);
  const tests = mailboxRules.flatMap((rule: MailboxRule) => {
    const test = rule.at(ascii, family);
    return test === undefined ? [] : [{ rule, test }];
  });
  const isOrdinary = tests.length === 1 && tests[0]!.test.kernel?.isSubAddress === false;
  return isOrdinary ? ordinaryMailboxes : tests;
}

export const namedLabels = new Uint8Array(32_768);
for (const name of mailboxRules.flatMap(({ names }): readonly string[] => names)) {
  const [label = ""] = name.split(".");
  namedLabels[labelCode(label, 0, label.length)] = 1;
}

/** Range 0 to 32,767. A collision costs a needless look-up, but hides no rule. */
export function labelCode(name: string, start: number, end: number): number {
  const middle = name.charCodeAt((start + end) >> 1);
  const letters = threeOf(name.charCodeAt(start), middle, name.charCodeAt(end - 1));
  return (letters ^ Math.imul(end - start, 0x2545)) & 32_767;
}

/** Returns whether a rule may name a domain or one above it. Saves six look-ups and two patterns for most domains. */
function mayHaveRules(ascii: string): boolean {
  let start = 0;
  for (let dot = ascii.indexOf("."); dot !== -1; dot = ascii.indexOf(".", start)) {
    if (namedLabels[labelCode(ascii, start, dot)] === 1) return true;
    start = dot + 1;
  }
  return false;
}

export function classifyMailbox(tests: MailboxTests, local: string): Classification | undefined {
  const plus = local.indexOf("+");
  for (const { rule, test } of tests) {
    const found = test.find(local, plus);
    if (found !== undefined) return verdictOf(rule, found);
  }
  return undefined;
}
