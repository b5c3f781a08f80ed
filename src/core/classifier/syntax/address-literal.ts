/** Syntax of address literals, which replace the domain of an address. Knows no other syntax. */

/** RFC 5321 §4.1.3. Unlike in RFC 4291, `::` replaces at least two groups. */
export function isAddressLiteral(text: string): boolean {
  const inside = /^\[(.*)\]$/s.exec(text)?.[1];
  if (inside === undefined) return false;
  return /^ipv6:/i.test(inside) ? isIpv6(inside.slice(5)) : isIpv4(inside);
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  let groups = text;
  let available = 8;
  const ipv4 = /^(.*:)([^:]*\.[^:]*)$/s.exec(text);
  if (ipv4) {
    if (!isIpv4(ipv4[2]!)) return false;
    // The last colon is a separator, unless it is part of `::`.
    groups = ipv4[1]!.endsWith("::") ? ipv4[1]! : ipv4[1]!.slice(0, -1);
    available = 6;
  }
  const halves = groups.split("::");
  if (halves.length > 2) return false;
  const count = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!count.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? count.length <= available - 2 : count.length === available;
}
