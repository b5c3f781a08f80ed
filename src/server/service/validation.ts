/** Answers one request: judges its items and charges the key for them. Must not know about HTTP. */
import { setImmediate as immediate } from "node:timers/promises";
import { mayReceiveMail } from "../../core/classifier/rules/domain/unknown-tld.js";
import type { EmbeddedEngine, Kind, Verdict } from "../../core/validator/validator.js";
import type { Quota } from "../../state/quota/quota.js";
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

export interface ItemRequest {
  readonly kind: Kind;
  readonly idempotencyKey: string | undefined;
  readonly body: Uint8Array;
  /** Whether the answer has more than statuses. It may then be ten times as long as the body. */
  readonly hasDetails: boolean;
  /** Reads the items from the body, again at each call. */
  items(): readonly string[];
}

export type Render<Answer> = (items: readonly string[], verdicts: readonly Verdict[]) => Promise<Answer>;

export type Answered<Answer> = { readonly answer: Answer; readonly statuses: readonly string[]; readonly quota: Quota };

/**
 * Returns what `render` makes of the verdicts. Resolves once the charge is durable. Items beyond the quota get
 * `quota_exceeded`.
 *
 * A request that waits for its charge has no items in memory: the garbage collector took a third of the time to copy those
 * of 64 requests. An answer without details is rendered before, which is a few times shorter than items and verdicts.
 * @throws StoreError
 */
export async function answerItems<Answer>(
  judges: Judges,
  key: ApiKey,
  request: ItemRequest,
  render: Render<Answer>,
): Promise<Answered<Answer> | Extract<ChargeOutcome, string>> {
  const { till } = judges;
  const { kind, idempotencyKey, body } = request;
  const isAnswered = async () => idempotencyKey !== undefined && till.hasAnswer(key.id, idempotencyKey);
  const { quota, isSandbox } = key;
  // Without units or items, no answer has to be stored. If one is stored, the charge compares the bodies.
  if (!isSandbox && quota.left === 0 && !(await isAnswered())) return "quota is gone";
  const { statuses, early } = await judgeBefore(judges, key, request, render);
  const once = idempotencyKey === undefined ? undefined : { idempotencyKey, body };
  const isFree = isSandbox || (statuses.length === 0 && !(await isAnswered()));
  const outcome = isFree
    ? { statuses, quota }
    : await till.charge({ keyId: key.id, kind, statuses, ...(once && { once }) }, key);
  if (typeof outcome === "string") return outcome;
  const isCharged = outcome.statuses.every((status, i) => status === statuses[i]);
  return {
    answer: isCharged && early ? early.answer : await renderAfter(judges, key, request, outcome, render),
    ...outcome,
  };
}

/** About all items, as the units may have grown; before the charge, which is one transaction with the stored answer. */
async function judgeBefore<Answer>(judges: Judges, key: ApiKey, request: ItemRequest, render: Render<Answer>) {
  const items = request.items();
  const verdicts = await judgeItems(judges, key, request.kind, items, false);
  const statuses = verdicts.map(({ status }) => status);
  return { statuses, early: request.hasDetails ? undefined : { answer: await render(items, verdicts) } };
}

/** A verdict that does not give the status that was charged, as one from a stored answer, is left without a reason. */
async function renderAfter<Answer>(
  judges: Judges,
  key: ApiKey,
  request: ItemRequest,
  { statuses }: Pick<Answered<Answer>, "statuses">,
  render: Render<Answer>,
): Promise<Answer> {
  const items = request.items();
  const verdicts = await judgeItems(judges, key, request.kind, items, request.hasDetails);
  const given = verdicts.map((verdict, i) => (verdict.status === statuses[i] ? verdict : { status: statuses[i]! }));
  return render(items, given);
}

async function judgeItems(
  judges: Judges,
  key: ApiKey,
  kind: Kind,
  items: readonly string[],
  wantsReasons: boolean,
): Promise<readonly Verdict[]> {
  if (key.isSandbox) return items.map((item) => ({ status: sandboxStatus(kind, item) }));
  const { classifier, mailCheck } = judges;
  await askAbout(judges, kind, items);
  return mapFairly(items, (item) => {
    const verdict = wantsReasons ? classifier.classify(kind, item) : classifier.judge(kind, item);
    return mailCheck?.refine(kind, item, verdict) ?? verdict;
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
