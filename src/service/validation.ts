/** Answers one request: charges the key and gives its items statuses. Must not know about HTTP. */
import type { ApiKey, KeyStore } from "../store/key-store.js";
import type { Quota } from "../store/quota.js";
import { grantedVerdicts } from "../validator/offline.js";
import type { EmbeddedEngine, Kind } from "../validator/validator.js";

/** Outcome of a request: statuses, or the reason why there are none. */
export type ValidationOutcome =
  | {
      /** Statuses of the distinct items, in order. */
      readonly statuses: readonly string[];
      readonly quota: Quota;
    }
  | "quota is gone"
  | "another body";

/** Statuses by domain for sandbox keys, which do not use the classifier. All other domains are `ok`. */
const sandboxStatuses: ReadonlyMap<string, string> = new Map([
  ["disposable.com", "disposable"],
  ["fake.com", "fake"],
  ["alias.com", "alias"],
]);

/**
 * Returns the statuses of distinct items. The charge is durable before this resolves. Items that the quota did not reach get
 * `quota_exceeded`. Sandbox keys are not charged.
 *
 * @throws StoreError
 */
export async function validateItems(
  { store, classifier }: { readonly store: KeyStore } & Pick<EmbeddedEngine, "classifier">,
  key: ApiKey,
  kind: Kind,
  items: readonly string[],
  request: { readonly idempotencyKey: string | undefined; readonly body: Uint8Array },
): Promise<ValidationOutcome> {
  if (key.isSandbox) {
    return { statuses: items.map((item) => sandboxStatus(kind, item)), quota: key.quota };
  }
  const statusesOf = (granted: number) =>
    grantedVerdicts(classifier, kind, items, granted).map(({ status }) => status);
  const { idempotencyKey, body } = request;
  const isAnswered = async () => idempotencyKey !== undefined && store.hasAnswer(key.id, idempotencyKey);
  // Without items nothing is charged, so no answer has to be stored. If one is stored,
  // chargeOnce() compares the bodies.
  if (items.length === 0 && !(await isAnswered())) {
    return key.quota.left === 0 ? "quota is gone" : { statuses: [], quota: key.quota };
  }
  if (idempotencyKey !== undefined) {
    return store.chargeOnce(key.id, items.length, { kind, idempotencyKey, body }, statusesOf);
  }
  if (key.quota.left === 0) return "quota is gone";
  const { granted, quota } = await store.charge(key.id, items.length);
  // Another request may have used the last units since the key was read.
  return granted === 0 ? "quota is gone" : { statuses: statusesOf(granted), quota };
}

/** Returns the fixed status of an item. Domains are never `alias`. */
function sandboxStatus(kind: Kind, item: string): string {
  const domain = item.slice(item.lastIndexOf("@") + 1).toLowerCase();
  const status = sandboxStatuses.get(domain) ?? "ok";
  return status === "alias" && kind === "domain" ? "ok" : status;
}
