/** Answers one request: charges the key and gives its items statuses. Must not know about HTTP. */
import { setImmediate as immediate } from "node:timers/promises";
import { mayReceiveMail } from "../../core/classifier/rules/domain/unknown-tld.js";
import { type EmbeddedEngine, type Kind, notChecked, type Verdict } from "../../core/validator/validator.js";
import type { ApiKey, Charge, ChargeOutcome } from "../../state/service/api-key.js";
import type { ServiceStore } from "../../state/service/service-store.js";

interface Till extends Pick<ServiceStore, "hasAnswer"> {
  /** Durable when it resolves. */
  charge(charge: Charge, key: ApiKey): Promise<ChargeOutcome>;
}

export interface RequestMailCheck {
  /** Gives up before the client does. */
  ask(kind: Kind, items: readonly string[]): Promise<void>;
  /** Returns the verdict of the rules if DNS has nothing against it or was not asked. */
  refine(kind: Kind, item: string, verdict: Verdict): Verdict;
}

export interface Judges extends Pick<EmbeddedEngine, "classifier"> {
  readonly mailCheck?: RequestMailCheck | undefined;
  readonly till: Till;
}

/** Statuses by domain for sandbox keys, which do not use the classifier. All other domains are `ok`. */
const sandboxStatuses: ReadonlyMap<string, string> = new Map([
  ["disposable.com", "disposable"],
  ["fake.com", "fake"],
  ["alias.com", "alias"],
]);

/** Resolves once the charge is durable. Items beyond the quota get `quota_exceeded`. @throws StoreError */
export async function validateItems(
  judges: Judges,
  key: ApiKey,
  kind: Kind,
  items: readonly string[],
  request: { readonly idempotencyKey: string | undefined; readonly body: Uint8Array },
): Promise<ChargeOutcome> {
  if (key.isSandbox) {
    return { statuses: items.map((item) => sandboxStatus(kind, item)), quota: key.quota };
  }
  const { till, classifier, mailCheck } = judges;
  const { idempotencyKey, body } = request;
  const isAnswered = async () => idempotencyKey !== undefined && till.hasAnswer(key.id, idempotencyKey);
  // Without items or units, no answer has to be stored. If one is stored, the charge compares the bodies.
  if ((items.length === 0 || key.quota.left === 0) && !(await isAnswered())) {
    return key.quota.left === 0 ? "quota is gone" : { statuses: [], quota: key.quota };
  }
  // Before the charge, which is one transaction with the stored answer, and about all items: the units may have grown.
  await askAbout(judges, kind, items);
  const statuses = await mapFairly(items, (item) => {
    const verdict = classifier.judge(kind, item);
    return (mailCheck?.refine(kind, item, verdict) ?? verdict).status;
  });
  const once = idempotencyKey === undefined ? undefined : { idempotencyKey, body };
  return till.charge({ keyId: key.id, kind, statuses, ...(once && { once }) }, key);
}

/** Adds reasons to `statuses`. One that the rules do not give now, as from a stored answer, stays without. */
export async function explainItems(
  judges: Judges,
  key: ApiKey,
  kind: Kind,
  items: readonly string[],
  statuses: readonly string[],
): Promise<readonly Verdict[]> {
  if (key.isSandbox) return statuses.map((status) => ({ status }));
  // A stored answer was given without asking DNS again.
  const checked = items.filter((_, i) => statuses[i] !== notChecked.status);
  await askAbout(judges, kind, checked);
  return mapFairly(items, (item, i) => {
    const status = statuses[i]!;
    const byRules = judges.classifier.classify(kind, item);
    const verdict = judges.mailCheck?.refine(kind, item, byRules) ?? byRules;
    return verdict.status === status ? verdict : { status };
  });
}

/** Asks DNS about the domains of items that pass the rules. */
async function askAbout({ classifier, mailCheck }: Judges, kind: Kind, items: readonly string[]): Promise<void> {
  if (mailCheck === undefined) return;
  const passes = await mapFairly(items, (item) => mayReceiveMail(classifier.classify(kind, item)));
  await mailCheck.ask(
    kind,
    items.filter((_, i) => passes[i]),
  );
}

/** Milliseconds before other requests have their turn. */
const turn = 5;
/** Items between two looks at the clock. One look takes as long as the status of an item. */
const itemsPerLook = 8;

/** Some items take much longer than others, and other requests wait. */
export async function mapFairly<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let begun = performance.now();
  for (let index = 0; index < items.length; index++) {
    results.push(map(items[index]!, index));
    if (index % itemsPerLook !== 0 || performance.now() - begun < turn) continue;
    await immediate();
    begun = performance.now();
  }
  return results;
}

function sandboxStatus(kind: Kind, item: string): string {
  const domain = item.slice(item.lastIndexOf("@") + 1).toLowerCase();
  const status = sandboxStatuses.get(domain) ?? "ok";
  return status === "alias" && kind === "domain" ? "ok" : status;
}
