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
  const share = bad / checked;
  const what = `${percent(bad, checked)} ${disposable === 0 ? "would bounce" : "would bounce or are disposable"}`;
  const recommended = `${what}; large mail services recommend less than 2 % of bounces.`;
  if (share < limits.recommended) return { name: "good", text: `Good: ${recommended}` };
  if (share < limits.review) return { name: "fair", text: `Fair: ${recommended}` };
  if (share < limits.pause)
    return { name: "poor", text: `Poor: ${what}; Amazon SES reviews senders from 5 % of bounces on.` };
  return { name: "bad", text: `Bad: ${what}; Amazon SES pauses senders from 10 % of bounces on.` };
}
