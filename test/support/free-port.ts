/** A port for programs that cannot choose one themselves. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Returns a port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
