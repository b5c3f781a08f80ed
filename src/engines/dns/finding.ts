/** Findings of DNS about domains as destinations of mail, and the rules that decide them. Does no I/O. */
import type { MxRecord } from "node:dns";
import { BlockList, isIP } from "node:net";
import { disposableExchanges } from "../../core/classifier/tables/disposable-exchanges.js";
import { findSuffixIn } from "../../core/classifier/tables/suffix-walk.js";
import type { Classification } from "../../core/classifier/verdict.js";
import type { UndecidedCause } from "./vocabulary.js";

export type Finding =
  /** `exchange` is the MX host to try first; absent without MX records, or if it is not a valid host name. */
  | { readonly kind: "mail"; readonly exchange?: string }
  | { readonly kind: "no-such-domain" | "null-mx" | "no-mail-server" | "sends-no-mail" }
  | { readonly kind: "disposable-mx"; readonly suffix: string }
  | { readonly kind: "undecided"; readonly cause: UndecidedCause; readonly mayPass?: boolean };

export function verdictOf(domain: string, finding: Finding): Classification | undefined {
  switch (finding.kind) {
    case "mail":
    case "undecided":
      return undefined;
    case "disposable-mx":
      return { status: "disposable", reason: `disposable-mx: ${finding.suffix}` };
    default:
      return { status: "fake", reason: `${finding.kind}: ${domain}` };
  }
}

/** Null MX: RFC 7505. Exchanges are host names (RFC 5321 5.1); `localhost` and `.invalid` mean no mail. */
export function judgeExchanges(
  records: readonly MxRecord[],
  findDisposable: (host: string) => string | undefined,
): Finding | readonly string[] {
  const hosts = records
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, ""));
  if (hosts.length === 1 && hosts[0] === "") return { kind: "null-mx" };
  const somewhere = hosts.filter((host) => !isNowhere(host));
  if (somewhere.length === 0) return { kind: "no-mail-server" };
  for (const host of somewhere) {
    const suffix = findSuffixIn(host, (name) => disposableExchanges.has(name)) ?? findDisposable(host);
    if (suffix !== undefined) return { kind: "disposable-mx", suffix };
  }
  return somewhere;
}

export const mailTo = (host: string | undefined): Finding =>
  host !== undefined && isHostName(host) ? { kind: "mail", exchange: host } : { kind: "mail" };

// No mail server has them: RFC 6890 and RFC 5771; the second list is of private networks, with RFC 6598.
const nowhere = blockListOf(
  ["0.0.0.0/8", "127.0.0.0/8", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  ["::/127", "2001:db8::/32", "ff00::/8"],
);
const privateNetworks = blockListOf(
  ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"],
  ["fc00::/7", "fe80::/10"],
);

function blockListOf(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of [...v4, ...v6]) {
    const [network = "", length] = subnet.split("/");
    list.addSubnet(network, Number(length), familyOf(network));
  }
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

export const isPrivateAddress = (address: string): boolean => privateNetworks.check(address, familyOf(address));

export const isRoutable = (address: string, isInside: boolean): boolean =>
  !nowhere.check(address, familyOf(address)) && (isInside || !isPrivateAddress(address));

/** RFC 7208, section 5.1. Two such records are a mistake (section 4.5), and say nothing. */
export function sendsNoMail(texts: readonly (readonly string[])[]): boolean {
  const records = texts.map((pieces) => pieces.join("")).filter((text) => /^v=spf1(?: |$)/i.test(text));
  return records.length === 1 && /^v=spf1 +-all *$/i.test(records[0]!);
}

const isNowhere = (host: string): boolean =>
  host === "" || isIP(host) !== 0 || /(?:^|\.)(?:localhost|invalid)$/.test(host);

export const isHostName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9_][a-z0-9_-]*(?:\.[a-z0-9_][a-z0-9_-]*)*$/.test(name);
