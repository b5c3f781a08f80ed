/** The error of a state file that cannot be used. Its message has the path, the fault and what to do. */

export class StoreError extends Error {
  override readonly name = "StoreError";

  readonly isLocked: boolean;
  /** Whether machines can share the file, without seeing each other's locks. */
  readonly isShared: boolean;
  /** Whether there is no SQLite. */
  readonly isMissing: boolean;

  constructor(
    message: string,
    {
      isLocked = false,
      isShared = false,
      isMissing = false,
      ...options
    }: ErrorOptions & {
      readonly isLocked?: boolean;
      readonly isShared?: boolean;
      readonly isMissing?: boolean;
    } = {},
  ) {
    super(message, options);
    this.isLocked = isLocked;
    this.isShared = isShared;
    this.isMissing = isMissing;
  }
}
