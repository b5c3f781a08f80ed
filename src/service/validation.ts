import type { ApiKey, KeyStore } from "../store/key-store.js";
import type { Quota } from "../store/quota.js";
import { grantedVerdicts } from "../validator/offline.js";
import type { EmbeddedEngine, Kind } from "../validator/validator.js";

/** What came of a request. */
export type ValidationOutcome =
  | {
      /** Of the distinct items, in order. */
      readonly statuses: readonly string[];
      readonly quota: Quota;
    }
  | "quota is gone"
  | "another body";

/** What sandbox keys answer, whatever the classifier thinks. */
const sandboxStatuses: ReadonlyMap<string, string> = new Map([
  ["disposable.com", "disposable"],
  ["fake.com", "fake"],
  ["alias.com", "alias"],
]);

/** Gives statuses to distinct items, charging the key durably before it answers. */
export function validateItems(
  { store, classifier }: { readonly store: KeyStore } & Pick<EmbeddedEngine, "classifier">,
  key: ApiKey,
  kind: Kind,
  items: readonly string[],
  request: { readonly idempotencyKey: string | undefined; readonly body: Uint8Array },
): ValidationOutcome {
  if (key.isSandbox) {
    return { statuses: items.map((item) => sandboxStatus(kind, item)), quota: key.quota };
  }
  const statusesOf = (granted: number) =>
    grantedVerdicts(classifier, kind, items, granted).map(({ status }) => status);
  const { idempotencyKey, body } = request;
  if (idempotencyKey !== undefined) {
    return store.chargeOnce(key.id, items.length, { kind, idempotencyKey, body }, statusesOf);
  }
  if (key.quota.left === 0) return "quota is gone";
  if (items.length === 0) return { statuses: [], quota: key.quota };
  const { granted, quota } = store.charge(key.id, items.length);
  // Another request may have taken the last units since the key was read.
  return granted === 0 ? "quota is gone" : { statuses: statusesOf(granted), quota };
}

function sandboxStatus(kind: Kind, item: string): string {
  const domain = item.slice(item.lastIndexOf("@") + 1).toLowerCase();
  const status = sandboxStatuses.get(domain) ?? "ok";
  return status === "alias" && kind === "domain" ? "ok" : status;
}
