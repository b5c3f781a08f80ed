/** Waits for work until a run fails. */

/** `Promise.race` with a promise that lasts as long as the run would keep every result in memory. */
export class Watch {
  #failure: { readonly error: unknown } | undefined;
  #reject: (error: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#reject(error);
  }

  /** @throws the failure of the run */
  check(): void {
    if (this.#failure) throw this.#failure.error;
  }

  until<Result>(work: Promise<Result>): Promise<Result> {
    if (this.#failure) {
      work.catch(() => {});
      return Promise.reject(this.#failure.error);
    }
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject);
    });
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, milliseconds);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
