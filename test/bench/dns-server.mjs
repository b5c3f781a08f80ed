// A DNS server over loopback for the benchmark: every name has an exchange, except nx-... Loses some of the queries. Fails to
// find out late-..., 400 ms after the first question about it, and at once after later ones, as a resolver does whose servers
// are dead. Prints the number of questions so far when it gets a signal.
// Arguments: the percentage of queries that it drops. Prints its port.
import { createSocket } from "node:dgram";
import { decode, encode } from "dns-packet";

const share = Number(process.argv[2] ?? 0) / 100;
const socket = createSocket({ type: "udp4", recvBufferSize: 4_194_304 });
let lost = 0;
let count = 0;
const late = new Set();
process.on("SIGUSR2", () => process.stdout.write(`${count}\n`));
socket.on("message", (bytes, { port, address }) => {
  count++;
  // Evenly, so that every run loses as many.
  lost += share;
  if (lost >= 1) {
    lost--;
    return;
  }
  const { id, questions } = decode(bytes);
  const [{ name }] = questions;
  const isMissing = /^(?:nx-|_)/.test(name);
  const answers = isMissing ? [] : [{ type: "MX", name, data: { preference: 10, exchange: "mail.larch-and-oak.com" } }];
  const isLate = name.startsWith("late-");
  const code = isMissing ? 3 : isLate ? 2 : 0;
  const answer = encode({ type: "response", id, questions, flags: 0x180 | code, answers: isLate ? [] : answers });
  setTimeout(() => socket.send(answer, port, address), isLate && !late.has(name) ? 400 : 0);
  late.add(name);
});
socket.bind(0, "127.0.0.1", () => process.stdout.write(`${socket.address().port}\n`));
