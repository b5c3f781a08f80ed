/**
 * A DNS server over loopback, UDP and TCP, that answers by the first word of a name: `null-7.net` has a null MX, and each
 * question about `once-7.net` fails once.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { type Answer, decode, encode, type Packet, type Question } from "dns-packet";
import { afterFile } from "./clean-up.js";

export interface DnsServer {
  /** Address with port, as `--dns-server` takes it. */
  readonly address: string;
  /** Names and types of the questions so far: `MX ok-1.net`. Without control questions. */
  readonly asked: string[];
  /** Control questions so far. */
  readonly controls: string[];
}

const codes = { servfail: 2, nx: 3, aliasgone: 3, refused: 5 };
/** Types of records about which a question fails, by the first word of the name. */
const failing: Readonly<Record<string, string>> = { halfopen: "A", nohalf: "A", textopen: "TXT" };
const mx = (name: string, ...exchanges: string[]): Answer[] =>
  exchanges.map((exchange, i) => ({ type: "MX", name, data: { preference: 10 * (i + 1), exchange } }));

const a = (name: string, type: string, data: string): Answer[] => (type === "A" ? [{ type, name, data }] : []);
const aaaa = (name: string, type: string, data: string): Answer[] => (type === "AAAA" ? [{ type, name, data }] : []);
const cname = (name: string, data: string): Answer[] => [{ type: "CNAME", name, data }];
const txt = (name: string, data: string): Answer[] => [{ type: "TXT", name, data: [data] }];

/** Records of a name by its first word; names with other words have one exchange. */
const records: Readonly<Record<string, (name: string, type: string) => Answer[]>> = {
  null: (name) => mx(name, "."),
  nodata: () => [],
  lame: () => [],
  mx224: (name) => mx(name, "at224-host.net"),
  mxdoc: (name) => mx(name, "atdoc-host.net"),
  mxdoc6: (name) => mx(name, "atdoc6-host.net"),
  mxshared: (name) => mx(name, "at100-host.net"),
  mxdead: (name) => mx(name, ...Array.from({ length: 8 }, (_, i) => `nx-${i}.net`)),
  at224: (name, type) => a(name, type, "224.0.0.5"),
  atdoc: (name, type) => a(name, type, "192.0.2.7"),
  atdoc6: (name, type) => aaaa(name, type, "2001:db8::7"),
  at100: (name, type) => a(name, type, "100.64.1.1"),
  mxgone: (name) => mx(name, "nx-host.net"),
  mxbare: (name) => mx(name, "nodata-host.net"),
  mx10: (name) => mx(name, "at10-host.net"),
  mx127: (name) => mx(name, "at127-host.net"),
  mx0: (name) => mx(name, "at0-host.net"),
  mx6private: (name) => mx(name, "at6private-host.net"),
  mxsecond: (name) => mx(name, "nx-host.net", "mail.larch-and-oak.com"),
  mxopen: (name) => mx(name, "nx-host.net", "servfail-host.net"),
  mxopensecond: (name) => mx(name, "servfail-host.net", "mail.larch-and-oak.com"),
  backup: (name) => mx(name, "aspmx.l.google.com", "in.dropmail.me"),
  nullbeside: (name) => mx(name, ".", "mail.larch-and-oak.com"),
  backupgoogle: (name) => mx(name, "alt1.aspmx.l.google.com"),
  parked: (name) => mx(name, "park-mx.above.com"),
  at0: (name, type) => a(name, type, "0.0.0.0"),
  at10: (name, type) => a(name, type, "10.1.2.3"),
  at127: (name, type) => a(name, type, "127.0.0.1"),
  at192: (name, type) => a(name, type, "192.168.1.9"),
  at6private: (name, type) => aaaa(name, type, "fd00::1"),
  spf: (name, type) => (type === "TXT" ? txt(name, "v=spf1 -all") : a(name, type, "9.9.9.7")),
  spfsoft: (name, type) => (type === "TXT" ? txt(name, "v=spf1 ~all") : a(name, type, "9.9.9.7")),
  spfopen: (name, type) => (type === "TXT" ? txt(name, "v=spf1 mx -all") : a(name, type, "9.9.9.7")),
  spfmx: (name, type) => (type === "TXT" ? txt(name, "v=spf1 -all") : usual(name, type)),
  text: (name, type) => (type === "TXT" ? txt(name, "hello") : []),
  halfopen: (name, type) => records["address6"]!(name, type),
  nohalf: () => [],
  textopen: (name, type) => a(name, type, "9.9.9.7"),
  alias: (name, type) => [...cname(name, `x.${name}`), ...usual(`x.${name}`, type)],
  address: (name, type) => a(name, type, "9.9.9.7"),
  address6: (name, type) => aaaa(name, type, "2620:fe::7"),
  number: (name) => mx(name, "127.0.0.1"),
  localhost: (name) => mx(name, "localhost", "mail.invalid"),
  listed: (name) => mx(name, "mail.larch-and-oak.com", "mx.mailinator.com"),
  temp: (name) => mx(name, "in.dropmail.me"),
  // About as many as a message of 64 KiB holds.
  many: (name) => mx(name, ...Array.from({ length: 1300 }, (_, i) => `m${i}.larch-and-oak.com`)),
  other: (name) => mx(`not-${name}`, "mail.larch-and-oak.com"),
  control: (name) => mx(name, "\u001b[2J,=x.larch-and-oak.com"),
  loop: (name) => [...cname(name, `x.${name}`), ...cname(`x.${name}`, name)],
};

/** Every zone has one. */
const soa = (name: string): Answer[] => {
  const data = { mname: `ns.${name}`, rname: `post.${name}`, serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 };
  return [{ type: "SOA", name, data }];
};

/** One exchange, and an address. */
const usual = (name: string, type: string): Answer[] =>
  type === "MX" ? mx(name, "mail.larch-and-oak.com") : a(name, type, "9.9.9.7");

/** Binds both to one free port: another program may have a port for one of the protocols. */
export async function bindBoth(udp: Socket, tcp: Server): Promise<number> {
  for (;;) {
    tcp.listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    udp.bind(port, "127.0.0.1");
    const isFree = await once(udp, "listening").then(
      () => true,
      () => false,
    );
    if (isFree) return port;
    await new Promise((resolve) => tcp.close(resolve));
  }
}

/**
 * Starts a server; it ends with the test file.
 *
 * @param delay milliseconds before each answer; `delayOf` gives them by name
 * @param drops tells whether a question gets no answer, given its number from 0
 * @param controlCodes the response codes for control questions
 * @param isWell whether questions that would fail are answered like others
 */
export async function startDnsServer({
  delay = 0,
  delayOf = (_name: string): number => delay,
  drops = (_question: number): boolean => false,
  controlCodes = [0, codes.nx] as readonly [existing: number, missing: number],
  isWell = false,
} = {}): Promise<DnsServer> {
  const asked: string[] = [];
  const controls: string[] = [];
  let questions = 0;

  /** Returns the bytes of the answer; undefined for none. */
  function answerTo(bytes: Uint8Array, isTcp: boolean): Uint8Array | undefined {
    const query = decode(Buffer.from(bytes));
    const [{ name, type }] = query.questions as [Question];
    const isControl = /^(?:gmail\.com|outlook\.com|iana\.org|_.*)$/.test(name);
    (isControl ? controls : asked).push(`${type} ${name}`);
    const [word = ""] = name.split(/[-.]/);
    if (word === "silence" || (!isControl && drops(questions++))) return undefined;
    if (word === "nonsense") return Buffer.concat([bytes.subarray(0, 2), Buffer.from("garbage that is no message")]);
    const packet: Packet = { type: "response", id: query.id!, questions: query.questions! };
    const code = isControl
      ? controlCodes[Number(name.startsWith("_"))]!
      : isWell
        ? 0
        : word === "once" && asked.filter((each) => each === `${type} ${name}`).length === 1
          ? codes.servfail
          : (codes[word as keyof typeof codes] ?? Number(failing[word] === type) * codes.servfail);
    const found = type === "SOA" && word !== "lame" ? soa : (records[word] ?? usual);
    const isCut = !isTcp && (word === "truncated" || word === "many" || word === "cut");
    const answers = code === 0 && !isCut ? found(name, type) : [];
    return encode({ ...packet, flags: code | (isCut ? 0x0200 : 0) | 0x0180, answers });
  }

  let isOver = false;
  const udp = createSocket("udp4");
  udp.on("message", (bytes: Buffer, { port, address }: RemoteInfo) => {
    const answer = answerTo(bytes, false);
    const wait = delayOf(decode(bytes).questions![0]!.name);
    const send = () => {
      if (answer && !isOver) udp.send(answer, port, address);
    };
    if (wait > 0) setTimeout(send, wait);
    else setImmediate(send);
  });
  const tcp = createServer((socket) => {
    socket.on("error", () => {});
    let bytes = Buffer.of();
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE()) {
        const query = bytes.subarray(2, 2 + bytes.readUInt16BE());
        bytes = bytes.subarray(2 + query.length);
        const answer = answerTo(query, true);
        if (answer === undefined) continue;
        // A name whose answer is cut off gets no whole one either.
        if (/cut/.test(asked.at(-1)!)) return socket.destroy();
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
      }
      return undefined;
    });
  });
  await bindBoth(udp, tcp);
  afterFile(() => {
    isOver = true;
    udp.close();
    tcp.close();
  });
  return { address: `127.0.0.1:${(tcp.address() as AddressInfo).port}`, asked, controls };
}
