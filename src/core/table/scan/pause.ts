/** Tells pauses of an input: a time in which it gives nothing. */
export class Pause {
  isEnded = false;
  readonly #over: Promise<undefined>;
  #stop = () => {};

  constructor(milliseconds: number) {
    this.#over = new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), milliseconds);
      this.#stop = () => clearTimeout(timer);
    });
  }

  orResult<Read>(reading: Promise<Read>): Promise<Read | undefined> {
    return this.isEnded ? reading : Promise.race([reading, this.#over]);
  }

  end(): void {
    this.isEnded = true;
    this.#stop();
  }
}
