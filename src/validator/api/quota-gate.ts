/**
 * Lets batches to the service: side by side while what is left of the quota is known to be enough for all that are in
 * flight, one at a time otherwise, so that the quota ends at one place in the list. Batches go in the order in which
 * they come. The first goes alone, since nobody knows what is left before its answer.
 */
export class QuotaGate {
  /** So many units may go while others are in flight. */
  #room = 0;
  #unitsInFlight = 0;
  #batchesInFlight = 0;
  /** The batch that is in flight has been so alone, from its beginning. */
  #isAlone = false;
  #hasAnswer = false;
  #isShut = false;
  readonly #queue: { readonly units: number; readonly resolve: (goes: boolean) => void }[] = [];

  /**
   * Waits for the turn of a batch.
   *
   * @returns whether it may go; not, when the quota has ended meanwhile
   */
  enter(units: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#queue.push({ units, resolve });
      this.#admit();
    });
  }

  /**
   * A batch that went is done.
   *
   * @param left the units left, by its answer; undefined when that does not say
   */
  leave(units: number, left: number | undefined): void {
    this.#unitsInFlight -= units;
    this.#batchesInFlight--;
    if (left !== undefined) {
      // Answers may overtake each other: only a batch that was alone can show that there is more than was thought.
      const room = left - this.#unitsInFlight;
      this.#room = this.#isAlone ? room : Math.min(this.#room, room);
    } else if (!this.#hasAnswer) this.#room = Number.POSITIVE_INFINITY;
    this.#hasAnswer = true;
    this.#admit();
  }

  /** The quota has ended: nothing more goes. */
  shut(): void {
    this.#isShut = true;
    this.#admit();
  }

  #admit(): void {
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined) return;
      const goes = !this.#isShut;
      if (goes && this.#batchesInFlight > 0 && this.#room < next.units) return;
      this.#queue.shift();
      if (goes) {
        this.#room -= next.units;
        this.#isAlone = this.#batchesInFlight === 0;
        this.#unitsInFlight += next.units;
        this.#batchesInFlight++;
      }
      next.resolve(goes);
    }
  }
}
