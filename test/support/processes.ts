/** Processes that tests start: what they say, and how they end. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Readable } from "node:stream";

/** Returns how to read all that a stream has given so far. */
export function collected(stream: Readable | null): () => string {
  let text = "";
  stream?.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  return () => text;
}

/** Sends a signal to a process, and returns its exit code and the signal that has ended it. */
export async function endedBy(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const exited = once(child, "exit");
  child.kill(signal);
  return exited;
}

/** Opens a connection to a server, writes to it, and returns all that arrives until it closes. */
export async function talk(url: string, text: string, write?: (socket: Socket) => unknown): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  const said = collected(socket);
  socket.write(text);
  write?.(socket);
  // It may end with an error, too.
  await new Promise((resolve) => socket.once("close", resolve));
  return said();
}
