// A DNS server over loopback for the benchmark: every name has an exchange, except nx-... Loses some of the queries.
// Arguments: the percentage of queries that it drops. Prints its port.
import { createSocket } from "node:dgram";
import { decode, encode } from "dns-packet";

const share = Number(process.argv[2] ?? 0) / 100;
const socket = createSocket({ type: "udp4", recvBufferSize: 4_194_304 });
let lost = 0;
socket.on("message", (bytes, { port, address }) => {
  // Evenly, so that every run loses as many.
  lost += share;
  if (lost >= 1) {
    lost--;
    return;
  }
  const { id, questions } = decode(bytes);
  const [{ name }] = questions;
  const isMissing = /^(?:nx-|_)/.test(name);
  const answers = isMissing
    ? []
    : [{ type: "MX", name, data: { preference: 10, exchange: "mail.larch-and-oak.com" } }];
  socket.send(
    encode({ type: "response", id, questions, flags: 0x180 | (isMissing ? 3 : 0), answers }),
    port,
    address,
  );
});
socket.bind(0, "127.0.0.1", () => process.stdout.write(`${socket.address().port}\n`));
