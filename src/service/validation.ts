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
  // Nothing is charged, so nothing has to be stored.
  if (items.length === 0 && !(await isAnswered())) {
    return key.quota.left === 0 ? "quota is gone" : { statuses: [], quota: key.quota };
  }
  if (idempotencyKey !== undefined) {
    return store.chargeOnce(key.id, items.length, { kind, idempotencyKey, body }, statusesOf);
  }
  if (key.quota.left === 0) return "quota is gone";
  const { granted, quota } = await store.charge(key.id, items.length);
  // Another request may have taken the last units since the key was read.
  return granted === 0 ? "quota is gone" : { statuses: statusesOf(granted), quota };
}

function sandboxStatus(kind: Kind, item: string): string {
  const domain = item.slice(item.lastIndexOf("@") + 1).toLowerCase();
  const status = sandboxStatuses.get(domain) ?? "ok";
  return status === "alias" && kind === "domain" ? "ok" : status;
}
