/** Decides which batches may be in flight together, by the units left. Knows neither items nor requests. */
/**
 * Admits batches to the service, in the order in which they come. Batches run side by side while the quota is known to cover
 * all of them, otherwise one at a time. So the quota ends at one place in the list. The first batch runs alone, because the
 * rest of the quota is unknown before its answer.
 */
export class QuotaGate {
  /** Units that may be admitted while other batches are in flight. */
  #room = 0;
  #unitsInFlight = 0;
  #batchesInFlight = 0;
  /** Whether the batch admitted last was alone at its admission. */
  #isAlone = false;
  #hasAnswer = false;
  #isShut = false;
  readonly #queue: { readonly units: number; readonly resolve: (goes: boolean) => void }[] = [];

  /**
   * Waits for the turn of a batch.
   *
   * @returns true when the batch is admitted, false when the gate was shut
   */
  enter(units: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#queue.push({ units, resolve });
      this.#admit();
    });
  }

  /**
   * Ends an admitted batch.
   *
   * @param left the units left according to its last answer; undefined when the answer does not say. If the
   *   first answer does not, the quota counts as unlimited
   * @param hasAnswer whether it was answered; false if nothing was submitted
   */
  leave(units: number, left: number | undefined, hasAnswer = true): void {
    this.#unitsInFlight -= units;
    this.#batchesInFlight--;
    if (!hasAnswer) this.#room += units;
    else if (left !== undefined) {
      // Answers may arrive out of order. Only the answer to a batch that was alone may raise the estimate.
      const room = left - this.#unitsInFlight;
      this.#room = this.#isAlone ? room : Math.min(this.#room, room);
    } else if (!this.#hasAnswer) this.#room = Number.POSITIVE_INFINITY;
    this.#hasAnswer ||= hasAnswer;
    this.#admit();
  }

  /** Shuts the gate: batches that wait, and all later ones, are refused. */
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
