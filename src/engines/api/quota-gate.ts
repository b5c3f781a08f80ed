/**
 * Decides which batches may be in flight together, by the units left. Knows neither items nor requests.
 *
 * Admits batches in the order in which they come: side by side while the quota is known to cover all of them, otherwise
 * one at a time. So the quota ends at one point of the list. The first batch runs alone, because the units left are
 * unknown before its answer.
 */
export class QuotaGate {
  /** Units that may be admitted while other batches are in flight. */
  #room = 0;
  #unitsInFlight = 0;
  #batchesInFlight = 0;
  #isAlone = false;
  #hasAnswer = false;
  #isShut = false;
  readonly #queue: { readonly units: number; readonly resolve: (goes: boolean) => void }[] = [];

  /**
   * Waits for the turn of a batch.
   *
   * @returns false if the gate was shut
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
   * @param left the units left according to its last answer, if reported. If the first answer does not report them, the
   *   quota counts as unlimited
   * @param hasAnswer false if nothing was submitted
   */
  leave(units: number, left: number | undefined, hasAnswer = true): void {
    this.#unitsInFlight -= units;
    this.#batchesInFlight--;
    if (!hasAnswer) this.#room += units;
    else if (left !== undefined) {
      // Answers may arrive out of order. Only the answer to a batch that was admitted alone may raise the estimate.
      const room = left - this.#unitsInFlight;
      this.#room = this.#isAlone ? room : Math.min(this.#room, room);
    } else if (!this.#hasAnswer) this.#room = Number.POSITIVE_INFINITY;
    this.#hasAnswer ||= hasAnswer;
    this.#admit();
  }

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
