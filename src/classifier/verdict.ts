/** What an item is. */
export type Kind = "email" | "domain";

/** The statuses that the classifier gives. */
export type ClassifierStatus = "disposable" | "fake" | "alias" | "ok";

/** The classifier's verdict on one item. */
export interface Classification {
  readonly status: ClassifierStatus;
  /** A stable code, most with a subject behind it: `disposable-domain: mailinator.com`. Absent for `ok`. */
  readonly reason?: string;
  /** What the person probably meant, where the classifier is sure enough to say. */
  readonly suggestion?: string;
}
