/**
 * idv as a library.
 *
 * @packageDocumentation
 */
import { type Classifier, loadClassifier } from "./classifier/classifier.js";
import type { Classification } from "./classifier/verdict.js";

export type { Classification, ClassifierStatus } from "./classifier/verdict.js";

let classifier: Classifier | undefined;

/**
 * Classifies an e-mail address offline. Synchronous; the first call loads the data, some milliseconds. Never throws
 * for any string.
 *
 * @param address as it would be in an envelope: no name, no angle brackets, no white space around it
 */
export function classifyEmail(address: string): Classification {
  classifier ??= loadClassifier();
  return classifier.classify("email", address);
}

/**
 * Classifies a domain offline, like {@link classifyEmail}. `alias` does not occur.
 *
 * @param domain a host name, with or without the root's trailing dot
 */
export function classifyDomain(domain: string): Classification {
  classifier ??= loadClassifier();
  return classifier.classify("domain", domain);
}
