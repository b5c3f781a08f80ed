// A proxy between runs and servers that behaves as badly as a network and a balancer may, in random order.
import { createServer, request as send } from "node:http";
import { count } from "./programs.mjs";
import { below, random } from "./random.mjs";

/** Answers of its own, which the servers do not learn of. */
const refusals = [
  [503, { "retry-after": "0" }, "{}"],
  [503, {}, ""],
  [429, { "retry-after": "1" }, '{"message":"slow down"}'],
  [502, { "content-type": "text/html" }, "<h1>Bad gateway</h1>"],
  [200, { "content-type": "text/html" }, "<h1>Sign in to the network</h1>"],
];

/**
 * Starts it on a free port of the loopback interface.
 *
 * @param portOf returns the port of a server, or undefined while there is none
 * @param isBad whether it misbehaves now
 */
export async function startProxy(portOf, isBad) {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const fault = isBad() && random() < 0.3 ? faults[below(faults.length)] : undefined;
      if (fault) count(`proxy: ${fault.what}`);
      const forward = () => passOn(portOf(), request, Buffer.concat(chunks), response, fault?.cut);
      if (fault?.before) fault.before(response, forward);
      else forward();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/** Faults: before the request is passed on, or in the answer. */
const faults = [
  { what: "closed before the server", before: (response) => response.destroy() },
  {
    what: "refused",
    before: (response) => {
      const [status, fields, body] = refusals[below(refusals.length)];
      response.writeHead(status, fields).end(body);
    },
  },
  { what: "slow", before: (_, forward) => setTimeout(forward, below(2000)) },
  {
    what: "100 Continue",
    before: (response, forward) => {
      response.writeContinue();
      forward();
    },
  },
  // The server has charged it.
  { what: "answer lost", cut: () => 0 },
  { what: "answer cut", cut: (length) => below(length) },
];

/** Passes a request on, and its answer back: whole, or the first bytes of it if there is a `cut`. */
function passOn(port, { method, url, headers }, body, response, cut) {
  if (port === undefined) return response.destroy();
  const onward = send({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
    const chunks = [];
    answer.on("error", () => response.destroy());
    answer.on("data", (chunk) => chunks.push(chunk));
    answer.on("end", () => {
      const whole = Buffer.concat(chunks);
      const length = cut?.(whole.length);
      if (length === 0) return response.destroy();
      response.writeHead(answer.statusCode, answer.headers);
      if (length === undefined) response.end(whole);
      else response.write(whole.subarray(0, length), () => response.destroy());
    });
  });
  onward.on("error", () => response.destroy());
  onward.end(body);
}
