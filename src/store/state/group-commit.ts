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

/** Collects work into groups, one of which runs at a time in each lane. */
export class GroupCommit<Work, Result> {
  readonly #run: (group: readonly Work[]) => Promise<readonly Result[]>;
  readonly #laneOf: (work: Work) => string;
  /** Waiting work by its lane; lanes without work have no entry. */
  readonly #lanes = new Map<string, Member<Work, Result>[]>();

  /**
   * @param run does the work of a group, and returns a result for each member; if it throws, all members fail
   * @param laneOf returns the lane of some work; by default, there is one
   */
  constructor(run: (group: readonly Work[]) => Promise<readonly Result[]>, laneOf = (_work: Work) => "") {
    this.#run = run;
    this.#laneOf = laneOf;
  }

  /** Adds work to the next group of its lane. Resolves with its result when the group is done. */
  add(work: Work): Promise<Result> {
    return new Promise((resolve, reject) => {
      const lane = this.#laneOf(work);
      const waiting = this.#lanes.get(lane);
      if (waiting) {
        waiting.push({ work, resolve, reject });
        return;
      }
      this.#lanes.set(lane, [{ work, resolve, reject }]);
      // Not at once: requests that have arrived together are still being read.
      setImmediate(() => this.#runGroups(lane));
    });
  }

  async #runGroups(lane: string): Promise<void> {
    const waiting = this.#lanes.get(lane)!;
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostMembers);
      try {
        const results = await this.#run(group.map(({ work }) => work));
        for (const [i, { resolve }] of group.entries()) resolve(results[i]!);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      // Lets the answers out, and the next requests in.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#lanes.delete(lane);
  }
}
