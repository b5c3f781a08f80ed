/**
 * Applies the rules for addresses whose domain passes: collects those that concern a domain and runs them on a local part. The kernel
 * has the same rules in `judgeMailbox`, so a verdict may depend on nothing else.
 */
import { providerFamily } from "../providers.js";
import { type Classification, verdictOf } from "../verdict.js";
import { threeOf } from "./placeholder.js";
import type { MailboxRule, MailboxTest } from "./rule.js";
import { mailboxRules } from "./rules.js";
import { subAddress } from "./sub-address.js";

/** The rules for the mailboxes of one domain, in their order. */
export type MailboxTests = readonly { readonly rule: MailboxRule; readonly test: MailboxTest }[];

/** Those for domains about whose mailboxes nothing is known, which are most. Compared by identity, so never copy it. */
export const ordinaryMailboxes: MailboxTests = [{ rule: subAddress, test: subAddress.at("") }];

/**
 * Finds the rules for the mailboxes of a domain.
 *
 * @param ascii the domain, lower case, A-labels
 * @returns {@link ordinaryMailboxes} when nothing is known of them
 */
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

/**
 * 1 for each first label that a rule names, by {@link labelCode}: of a domain, or of all domains that begin with it.
 */
export const namedLabels = new Uint8Array(32_768);
for (const name of mailboxRules.flatMap(({ names }): readonly string[] => names)) {
  const [label = ""] = name.split(".");
  namedLabels[labelCode(label, 0, label.length)] = 1;
}

/**
 * Maps a label to a number from 0 to 32,767, by its length and its first, middle and last letter. Other labels have the same
 * number, which costs an unnecessary look but hides no rule.
 */
export function labelCode(name: string, start: number, end: number): number {
  const [first, last] = [name.charCodeAt(start), name.charCodeAt(end - 1)];
  const letters = threeOf(first, name.charCodeAt((start + end) >> 1), last);
  return (letters ^ Math.imul(end - start, 0x2545)) & 32_767;
}

/** Returns whether a rule may name a domain or one above it. Spares most domains six look-ups and two patterns. */
function mayHaveRules(ascii: string): boolean {
  let start = 0;
  for (let dot = ascii.indexOf("."); dot !== -1; dot = ascii.indexOf(".", start)) {
    if (namedLabels[labelCode(ascii, start, dot)] === 1) return true;
    start = dot + 1;
  }
  return false;
}

/**
 * Classifies an address whose domain passes.
 *
 * @param local the local part, without the quotes and backslashes of a quoted string
 * @returns undefined when no rule matches
 */
export function classifyMailbox(tests: MailboxTests, local: string): Classification | undefined {
  const plus = local.indexOf("+");
  for (const { rule, test } of tests) {
    const found = test.find(local, plus);
    if (found !== undefined) return verdictOf(rule, found);
  }
  return undefined;
}
