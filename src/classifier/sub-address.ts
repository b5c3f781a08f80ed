/**
 * The sub-address of an address, as the reason names it: `+news` of `ann+news@example.net` (RFC 5233), or the
 * mailbox's own subdomain at Fastmail, where `anything@user.fastmail.com` is delivered to `user`.
 *
 * Hyphens, dots and `=` are ordinary characters: 3 to 16 % of real people have a hyphen.
 *
 * @param local the local part
 * @param ascii the domain, lower case, A-labels
 */
export function findSubAddress(local: string, ascii: string): string | undefined {
  const plus = local.indexOf("+");
  if (plus > 0 && plus < local.length - 1) return local.slice(plus);
  return /^[^.]+\.fastmail\.com$/.test(ascii) ? ascii : undefined;
}
