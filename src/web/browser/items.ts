/** The part of the library for browsers that classifies single items. */
import { type Classifier, createClassifier as createEngine } from "../../core/classifier/classifier.js";
import type { Classification, Kind } from "../../core/classifier/verdict.js";
import { type Why, whyOf } from "../../core/classifier/why.js";
import { classifyIn, compileLists, refuseOthers } from "../../core/classify-in.js";
import type { EmailForm, ListedItems } from "../../core/library.js";
import { loadedTable } from "./loaded-table.js";

export * from "../../core/library.js";

export interface ItemClassifier {
  /** Returns the verdict of the rules. Synchronous; never throws, whatever the string. */
  classify(kind: Kind, item: string): Classification;
  /** Returns where a verdict comes from: the rule and its source, lists with the domain, and who takes corrections. */
  why(verdict: Classification): Why;
}

let shared: Classifier | undefined;

/**
 * Creates a classifier with lists of one's own.
 * @throws TypeError when there is no such option, or an entry of `allow` or `deny` is neither a domain nor an address
 * @throws Error when the tables are not loaded
 */
export function createClassifier(options: ListedItems = {}): ItemClassifier {
  refuseOthers(options, "allow", "deny");
  const classifier = createEngine(loadedTable(), compileLists(options));
  return { classify: classifier.classify, why: (verdict) => whyOf(classifier, verdict) };
}

/** Classifies an e-mail address; takes any string. @throws Error when the tables are not loaded, TypeError for no string */
export function classifyEmail(address: string, form?: EmailForm): Classification {
  shared ??= createEngine(loadedTable());
  return classifyIn(shared, address, form);
}

/** Classifies a domain, like {@link classifyEmail}; its root's trailing dot is optional. Never returns `alias`. */
export function classifyDomain(domain: string): Classification {
  shared ??= createEngine(loadedTable());
  return shared.classify("domain", domain);
}
