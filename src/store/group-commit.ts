/**
 * Group commit: work that arrives while a group is under way goes into the next group, so that many requests share one
 * durable transaction. Order is kept.
 */

/** Most members of a group: a larger one would make the first wait for the last. */
const mostMembers = 500;

interface Member<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects work into groups, one of which runs at a time. */
export class GroupCommit<Work, Result> {
  readonly #run: (group: readonly Work[]) => Promise<readonly Result[]>;
  #waiting: Member<Work, Result>[] = [];
  #isRunning = false;

  /** @param run does the work of a group, and returns a result for each member; if it throws, all members fail */
  constructor(run: (group: readonly Work[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  /** Adds work to the next group. Resolves with its result when the group is done. */
  add(work: Work): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      // Not at once: requests that have arrived together are still being read.
      if (!this.#isRunning) setImmediate(() => this.#runGroups());
      this.#isRunning = true;
    });
  }

  async #runGroups(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, mostMembers);
      try {
        const results = await this.#run(group.map(({ work }) => work));
        for (const [i, { resolve }] of group.entries()) resolve(results[i]!);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      // Lets the answers out, and the next requests in.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isRunning = false;
  }
}
