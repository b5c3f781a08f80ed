/** Parsers of options about the network: addresses of services, servers, pages and lists. */
import { BlockList, isIPv4 } from "node:net";
import { isLoopback } from "../../engines/api/loopback.js";
import { isServerAddress } from "../../engines/dns/vocabulary.js";
import { printable } from "../../text.js";
import { InvalidValue, truthValue } from "./values.js";

export function webOrigin(value: string): string {
  if (URL.canParse(value) && new URL(value).origin === value) return value;
  throw new InvalidValue("It takes an origin such as https://shop.example.com, without a path.");
}

/** `strict:5%` fails the run if more than this share of the domains stays undecided; half of them by default. */
export type DnsUse = "off" | "on" | { readonly mostUndecided: number };

export function dnsUse(value: string): DnsUse {
  const [strict, share] = /^strict(?::(\d{1,3}(?:\.\d{1,3})?)%)?$/i.exec(value) ?? [];
  if (strict !== undefined && share === undefined) return { mostUndecided: 0.5 };
  if (share !== undefined && Number(share) <= 100) return { mostUndecided: Number(share) / 100 };
  try {
    return truthValue(value) ? "on" : "off";
  } catch {
    if (isServerAddress(value)) throw new InvalidValue(`For a server, write --set dnsServer=${value}.`);
    throw new InvalidValue("It takes on, off, strict or a share, strict:5%.");
  }
}

export function dnsServers(value: string): string[] {
  return value.split(",").map((text) => {
    const server = text.trim();
    if (isServerAddress(server)) return server;
    throw new InvalidValue("It takes IP addresses, such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53.");
  });
}

/** In place of a URL, which may have a password. */
const hidden = "the URL";

/** Hides text without a scheme, which may be a key. */
const shownUrl = (value: string): string =>
  value === "" || /^[a-z][a-z\d+.-]*:\/\/[^@?#]*$/i.test(value) ? `"${printable(value)}"` : hidden;

export function serviceUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const [, host] =
      /^([\w.-]+\.[a-z]{2,}|localhost|[\d.]+|\[[\da-f:]+\])(?::\d{1,5})?(?:\/[\w./-]*)?$/i.exec(value) ?? [];
    const guess = host && `Did you mean ${isLoopback(host) ? "http" : "https"}://${value}? `;
    throw new InvalidValue(`${guess ?? ""}It takes a URL such as https://example.com/v1.`, shownUrl(value));
  }
  const [end] = /\/(?:(?:emails|domains)\/(?:validate|check)\/*|dashboard(?:\/.*)?)$/.exec(url.pathname) ?? [];
  if (end !== undefined) throw new InvalidValue(`It is the URL before ${end}.`, hidden);
  if (url.username || url.password || url.search || url.hash) {
    throw new InvalidValue("It must have no user, password, ? or #.", hidden);
  }
  return url.href.replace(/\/+$/, "");
}

/** Returns an https URL, or an http one on this machine; undefined for another. */
export function safeUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  return isSafe ? url?.href : undefined;
}

export function listUrl(value: string): string {
  const url = value === "none" ? value : safeUrl(value);
  if (url === undefined) throw new InvalidValue("It takes an https URL, or none.", hidden);
  return url;
}

/** RFC 9110 §5.1, in lower case. */
export function fieldName(value: string): string {
  if (/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(value)) return value.toLowerCase();
  throw new InvalidValue("It takes the name of an HTTP field such as X-Forwarded-Email.");
}

export function trustedAddress(value: string): TrustedAddress {
  if (/\/0+$/.test(value)) throw new InvalidValue("It would believe everybody; name the address of the proxy.");
  try {
    if (value !== "unix") addTo(new BlockList(), value);
    return value;
  } catch {
    throw new InvalidValue("It takes an address such as 10.0.0.7, a network such as 10.0.0.0/8, or unix.");
  }
}

/** An address, a network such as 10.0.0.0/8, or `unix`. */
type TrustedAddress = string;

/** The address of a peer is undefined for a Unix socket. */
export function trustOf(trusted: readonly TrustedAddress[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const each of trusted) if (each !== "unix") addTo(list, each);
  return (address) => {
    if (address === undefined) return trusted.includes("unix");
    // IPv4 on a socket for IPv6 (RFC 4291 §2.5.5.2).
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
    return list.check(plain, familyOf(plain));
  };
}

function addTo(list: BlockList, text: TrustedAddress): void {
  const [address = "", bits] = text.split("/");
  if (bits === undefined) list.addAddress(address, familyOf(address));
  else list.addSubnet(address, Number(bits), familyOf(address));
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv4(address) ? "ipv4" : "ipv6");
