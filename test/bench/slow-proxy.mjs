// A proxy on this machine that passes bytes on after a while, so that a server behind it is as far away as one in another place.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Returns the port of a proxy, and how to close it. Each direction takes `milliseconds`. */
export async function slowProxy(port, milliseconds) {
  const passOn = (from, to) => {
    from.on("data", (bytes) => setTimeout(() => to.write(bytes), milliseconds));
    from.on("close", () => setTimeout(() => to.destroy(), milliseconds));
    from.on("error", () => {});
  };
  const server = createServer((client) => {
    const behind = connect(port, "127.0.0.1");
    for (const socket of [client, behind]) socket.setNoDelay(true);
    passOn(client, behind);
    passOn(behind, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port, close: () => server.close() };
}
