/** Addresses from which a proxy may name the person who is signed in. */
import { BlockList, isIPv4 } from "node:net";

/** An address, a network such as 10.0.0.0/8, or `unix`. */
export type TrustedAddress = string;

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

export function addTo(list: BlockList, text: TrustedAddress): void {
  const [address = "", bits] = text.split("/");
  if (bits === undefined) list.addAddress(address, familyOf(address));
  else list.addSubnet(address, Number(bits), familyOf(address));
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv4(address) ? "ipv4" : "ipv6");
