/**
 * Decides which batches may be in flight together. They run side by side while the quota is known to cover all,
 * otherwise one at a time and in order, so that it ends at one point of the list. The first runs alone: the units left
 * are unknown.
 */
export class QuotaGate {
  #room = 0;
  #unitsInFlight = 0;
  #batchesInFlight = 0;
  #isAlone = false;
  #hasAnswer = false;
  #isShut = false;
  readonly #queue: { readonly units: number; readonly resolve: (goes: boolean) => void }[] = [];

  /** Returns false if the gate was shut. */
  enter(units: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#queue.push({ units, resolve });
      this.#admit();
    });
  }

  /** If the first answer reports no `left`, the quota counts as unlimited. */
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
