/** What the browser build puts in the place of package/threads: a run in a browser has one thread. */
export function startThread(): never {
  throw new Error("a run in a browser has one thread");
}

export function prepareThread(): void {}
