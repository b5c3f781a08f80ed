// Grades the share of addresses that must not be written to. Disposable addresses count: they do not bounce at once,
// but nobody reads them, and the sender's reputation falls.

import { percent } from "../../text.js";
import type { Kind } from "../classifier/verdict.js";

/** Shares of bounces by the Amazon SES Developer Guide, "Reputation metrics messages". Other services are similar. */
const limits = { recommended: 0.02, review: 0.05, pause: 0.1 } as const;

export type GradeName = "good" | "fair" | "poor" | "bad";

type Grade = { readonly name: GradeName; readonly text: string };
type Graded = { readonly kind: Kind; readonly statuses: Readonly<Record<string, number>> };

/** Returns undefined for domains, and for a list with nothing in it that was checked. */
export function gradeOf({ kind, statuses }: Graded): Grade | undefined {
  const { fake = 0, disposable = 0, quota_exceeded: open = 0 } = statuses;
  const checked = Object.values(statuses).reduce((sum, count) => sum + count, -open);
  if (kind !== "email" || checked === 0) return undefined;
  const bad = fake + disposable;
  const name = nameOf(bad / checked);
  const start = `${name[0]!.toUpperCase()}${name.slice(1)}: ${percent(bad, checked)}`;
  if (fake === 0 && disposable > 0) return { name, text: `${start} are disposable: nobody reads what is sent there.` };
  const what = disposable > 0 ? `would bounce or are disposable (${percent(fake, checked)} bounce)` : "would bounce";
  const isByDisposable = name !== "good" && fake / checked < limits.recommended;
  const why = isByDisposable ? "nobody reads what is sent to the others" : whatSendersFace(fake / checked);
  return { name, text: `${start} ${what}; ${why}.` };
}

function nameOf(share: number): GradeName {
  if (share < limits.recommended) return "good";
  if (share < limits.review) return "fair";
  return share < limits.pause ? "poor" : "bad";
}

function whatSendersFace(bounces: number): string {
  if (bounces < limits.review) return "large mail services recommend less than 2 % of bounces";
  return bounces < limits.pause
    ? "Amazon SES reviews senders from 5 % of bounces on"
    : "Amazon SES pauses senders from 10 % of bounces on";
}
