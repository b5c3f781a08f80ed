/** Tells pauses of an input: a time in which it gives nothing. */
export class Pause {
  isEnded = false;
  readonly #over: Promise<undefined>;
  #stop = () => {};

  /** @param milliseconds from now */
  constructor(milliseconds: number) {
    this.#over = new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), milliseconds);
      this.#stop = () => clearTimeout(timer);
    });
  }

  /** Returns what was read, or undefined if the time is over first. */
  orResult<Read>(reading: Promise<Read>): Promise<Read | undefined> {
    return this.isEnded ? reading : Promise.race([reading, this.#over]);
  }

  end(): void {
    this.isEnded = true;
    this.#stop();
  }
}
