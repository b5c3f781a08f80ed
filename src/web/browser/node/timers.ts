/** What the browser build puts in the place of Node's module `timers/promises`. */

/** In Node.js, where the tests run this build too, an open port keeps the process alive. */
type Port = MessagePort & { ref?(): void; unref?(): void };

const waiting: (() => void)[] = [];
const { port1, port2 } = new MessageChannel() as { readonly port1: Port; readonly port2: Port };
port2.onmessage = () => {
  waiting.shift()?.();
  if (waiting.length === 0) port2.unref?.();
};
port2.unref?.();

/** Resolves after one turn of the event loop. A timer of a browser takes 4 ms. */
export const setImmediate = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    port2.ref?.();
    port1.postMessage(0);
  });

const sleep = (milliseconds: number, value?: unknown): Promise<unknown> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds, value);
  });

export { sleep as setTimeout };
