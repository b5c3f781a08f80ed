/** The error of a state file that cannot be used. Its message has the path, the fault and what to do. */

/** What some runs go on without: a file that stays locked, or that machines share without seeing each other's locks; SQLite. */
type Obstacle = "locked" | "shared" | "no SQLite";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly obstacle: Obstacle | undefined;

  constructor(message: string, { obstacle, ...options }: ErrorOptions & { readonly obstacle?: Obstacle } = {}) {
    super(message, options);
    this.obstacle = obstacle;
  }
}
