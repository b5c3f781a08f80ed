/**
 * Group commit: work that arrives while a group runs joins the next group, so that requests share a durable
 * transaction. Each lane keeps the order. With 16 connections, throughput grew from 0.2 to 0.5 of the bare handler.
 */

const mostMembers = 500;

interface Member<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupCommit<Work, Result> {
  readonly #lanes = new Map<string, Member<Work, Result>[]>();

  /** `run` returns a result for each member; if it throws, all members fail. */
  constructor(private readonly run: (group: readonly Work[]) => Promise<readonly Result[]>) {}

  add(work: Work, lane = ""): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = this.#lanes.get(lane);
      if (waiting) {
        waiting.push({ work, resolve, reject });
        return;
      }
      this.#lanes.set(lane, [{ work, resolve, reject }]);
      // Wait a turn: requests that have arrived together are still being parsed.
      setImmediate(() => this.#runGroups(lane));
    });
  }

  async #runGroups(lane: string): Promise<void> {
    const waiting = this.#lanes.get(lane)!;
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostMembers);
      try {
        const results = await this.run(group.map(({ work }) => work));
        for (const [i, { resolve }] of group.entries()) resolve(results[i]!);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      // Let answers be sent and new requests be read.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#lanes.delete(lane);
  }
}
