/** Tells whether the share of addresses that bounce is much, by the limits that a large mail service publishes. */
import { percent } from "../text.js";
import type { Report } from "./report.js";

/**
 * Shares of bounces at which Amazon SES recommends to stay below, reviews a sender, and pauses a sender (Amazon SES Developer
 * Guide, "Reputation metrics messages"). Other services have limits like these.
 */
const limits = { recommended: 0.02, review: 0.05, pause: 0.1 } as const;

export interface Grade {
  readonly name: "good" | "fair" | "poor" | "bad";
  /** Share of the checked rows that would bounce, from 0 to 1. */
  readonly share: number;
  /** One sentence. */
  readonly text: string;
}

/** Returns undefined for domains, and for a list with nothing in it that was checked. */
export function gradeOf({ kind, rows, emptyRows, statuses }: Report): Grade | undefined {
  const checked = rows - emptyRows - (statuses.get("quota_exceeded") ?? 0);
  if (kind !== "email" || checked <= 0) return undefined;
  const fake = statuses.get("fake") ?? 0;
  const share = fake / checked;
  const bounce = `${percent(fake, checked)} would bounce`;
  const recommended = `${bounce}; large mail services recommend less than 2 %.`;
  if (share < limits.recommended) return { name: "good", share, text: `Good: ${recommended}` };
  if (share < limits.review) return { name: "fair", share, text: `Fair: ${recommended}` };
  if (share < limits.pause)
    return { name: "poor", share, text: `Poor: ${bounce}; Amazon SES reviews senders from 5 % on.` };
  return { name: "bad", share, text: `Bad: ${bounce}; Amazon SES pauses senders from 10 % on.` };
}
