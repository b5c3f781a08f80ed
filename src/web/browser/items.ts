/** The part of the library for browsers that classifies single items. */
import {
  type Classifier,
  type ClassifierTable,
  createClassifier as createEngine,
} from "../../core/classifier/classifier.js";
import type { Classification, Kind } from "../../core/classifier/verdict.js";
import { type Why, whyOf } from "../../core/classifier/why.js";
import { classifyIn, compileLists, type EmailForm, type ListedItems } from "../../core/library.js";

export type {
  Classification,
  ClassifierStatus,
  EmailForm,
  Flag,
  Kind,
  ListedItems,
  Reason,
  ReasonCode,
  Why,
} from "../../core/library.js";
export { canonical, flags } from "../../core/library.js";

export interface ItemClassifier {
  /** Returns the verdict of the rules. Synchronous; never throws, whatever the string. */
  classify(kind: Kind, item: string): Classification;
  /** Returns where a verdict comes from: the rule and its source, lists with the domain, and who takes corrections. */
  why(verdict: Classification): Why;
}

let table: ClassifierTable | undefined;
let shared: Classifier | undefined;
let loading: Promise<void> | undefined;

/** Loads a table once; after a failure, the next call loads again. */
export function loadOnce(load: () => Promise<ClassifierTable>): Promise<void> {
  loading ??= load().then(
    (loaded) => {
      table = loaded;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** @param url absolute, or in a page also relative to it */
export async function fetchFile(url: URL | string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new TypeError(`${url}: HTTP ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

export function loadedTable(): ClassifierTable {
  if (table === undefined) throw new Error("the tables are not loaded: await loadTables() first");
  return table;
}

/**
 * Creates a classifier with lists of one's own.
 * @throws TypeError when an entry of `allow` or `deny` is neither a domain nor an address
 * @throws Error when the tables are not loaded
 */
export function createClassifier(options: ListedItems = {}): ItemClassifier {
  const classifier = createEngine(loadedTable(), compileLists(options));
  return { classify: classifier.classify, why: (verdict) => whyOf(classifier, verdict) };
}

/** Classifies an e-mail address; takes any string. @throws Error when the tables are not loaded */
export function classifyEmail(address: string, form?: EmailForm): Classification {
  shared ??= createEngine(loadedTable());
  return classifyIn(shared, address, form);
}

/** Classifies a domain, like {@link classifyEmail}; its root's trailing dot is optional. Never returns `alias`. */
export function classifyDomain(domain: string): Classification {
  shared ??= createEngine(loadedTable());
  return shared.classify("domain", domain);
}
