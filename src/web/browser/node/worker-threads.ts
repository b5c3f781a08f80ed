/** What the browser build puts in the place of Node's module `worker_threads`: a run in a browser has one thread. */
export class Worker {
  constructor() {
    throw new Error("a run in a browser has one thread");
  }
}
