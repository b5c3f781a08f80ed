/**
 * idv as a library: classifies single e-mail addresses and domains offline. Uses the table of disposable domains that
 * comes with idv; knows neither the user's own lists nor a table installed by `idv data update`.
 *
 * @packageDocumentation
 */
import { type Classifier, loadClassifier } from "./classifier/classifier.js";
import type { Classification } from "./classifier/verdict.js";

export type { Classification, ClassifierStatus, Reason, ReasonCode } from "./classifier/verdict.js";

let classifier: Classifier | undefined;

/**
 * Classifies an e-mail address offline. Synchronous. The first call loads the table of disposable domains, which takes
 * a few milliseconds. Never throws, whatever the string.
 *
 * @param address an address as in an envelope: without a name, angle brackets or surrounding white space
 */
export function classifyEmail(address: string): Classification {
  classifier ??= loadClassifier();
  return classifier.classify("email", address);
}

/**
 * Classifies a domain offline, like {@link classifyEmail}. Never returns the status `alias`.
 *
 * @param domain a host name, with or without the root's trailing dot
 */
export function classifyDomain(domain: string): Classification {
  classifier ??= loadClassifier();
  return classifier.classify("domain", domain);
}
