/** Covers known addresses and domains, each with its status and reason. */
import { expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { jsonLines } from "../../support/states.js";

/** Examples of known addresses and domains: item, status, reason. */
const facts: readonly (readonly [string, string, string | null])[] = [
  // Disposable domains match by suffix, and zones only below themselves; providers and ordinary sites do not match.
  ["mailinator.com", "disposable", "disposable-domain: mailinator.com"],
  ["a.b.mailinator.com", "disposable", "disposable-domain: mailinator.com"],
  ["ann@a.b.mailinator.com", "disposable", "disposable-domain: mailinator.com"],
  ["edu.pl", "fake", "public-suffix: edu.pl"],
  ["uni.edu.pl", "ok", null],
  ["x.my.id", "ok", null],
  ["eu.org", "ok", null],
  ...["craigslist.org", "angi.com", "com.com", "facebookmail.com", "gocardless.dev", "salla.dev", "hola.org"].map(
    (domain) => [domain, "ok", null] as const,
  ),
  ...["99.com", "yourdomain.com", "21cn.com", "citizensonline.com", "first-state.net", "google.tm"].map(
    (domain) => [domain, "ok", null] as const,
  ),
  ...["atomicmail.io", "nus.edu.sg", "zoho.com", "email.com", "gmx.de", "mail.ru"].map(
    (domain) => [domain, "ok", null] as const,
  ),
  ["ann@trashmail.com", "disposable", "disposable-domain: trashmail.com"],
  ["ann@jetable.org", "disposable", "disposable-domain: jetable.org"],
  ["ann@spamgourmet.com", "alias", "relay: spamgourmet"],
  // Public suffixes and special-use names.
  ["ann@co.uk", "fake", "public-suffix: co.uk"],
  ["ann@company.con", "fake", "unknown-tld: con"],
  ["ann@example.com", "fake", "special-use: example.com"],
  ...["test", "invalid", "onion", "arpa", "localhost", "local", "example"].map(
    (name) => [`ann@x.${name}`, "fake", `special-use: ${name}`] as const,
  ),
  // Syntax.
  ['"ann lee"@larch-and-oak.com', "ok", null],
  ["ann@[192.0.2.1]", "fake", "syntax: an address literal instead of a domain"],
  ["ann@mailhost", "fake", "syntax: a domain without a dot"],
  ["ann@192.0.2.1", "fake", "syntax: a numeric top-level domain"],
  ["jürgen@bücher.de", "ok", null],
  [`${"a".repeat(65)}@larch-and-oak.com`, "fake", "syntax: the local part is longer than 64 octets at 65"],
  // Sub-addresses and relays.
  ["ann+news@larch-and-oak.com", "alias", "sub-address: +news"],
  ["ann+@larch-and-oak.com", "ok", null],
  ["ann-news@larch-and-oak.com", "ok", null],
  ["ann=news@larch-and-oak.com", "ok", null],
  ["1234+ann@users.noreply.github.com", "fake", "no-reply: users.noreply.github.com"],
  ["anything@ann.fastmail.com", "alias", "sub-address: ann.fastmail.com"],
  ["ann.lee@gmail.com", "ok", null],
  ["ann@simplelogin.com", "alias", "relay: simplelogin"],
  ["ann@mozmail.com", "alias", "relay: firefox-relay"],
  ["ann@duck.com", "alias", "relay: duckduckgo"],
  ["ann@privaterelay.appleid.com", "alias", "relay: apple-hide-my-email"],
  ["ann@anonaddy.me", "alias", "relay: addy"],
  ["ann@passmail.net", "alias", "relay: proton-pass"],
  // Mailboxes that cannot exist.
  ["ann@gmail.com", "fake", "impossible-mailbox: gmail.com needs 6 to 30 characters, letters and digits"],
  ["ann_lee@gmail.com", "fake", "impossible-mailbox: gmail.com needs 6 to 30 characters, letters and digits"],
  [".ann.lee@outlook.com", "fake", "syntax: the local part starts with a dot at 1"],
  ["1a@icloud.com", "fake", "impossible-mailbox: icloud.com needs 3 characters or more, a letter or digit first"],
  ["carpals-grabby.0x@icloud.com", "ok", null],
  [
    "1ann@yandex.ru",
    "fake",
    "impossible-mailbox: yandex.ru needs a letter first, at most 30 characters, or a phone number",
  ],
  ["ann+x@yahoo.com", "fake", "impossible-mailbox: yahoo.com has no plus addressing"],
  ["ann+x@gmx.de", "fake", "impossible-mailbox: gmx.de has no plus addressing"],
  ["ann!@mail.ru", "fake", "impossible-mailbox: mail.ru takes only letters, digits and . _ -"],
  ["ann!@proton.me", "fake", "impossible-mailbox: proton.me takes only letters, digits and . _ -"],
  ["1!@163.com", "ok", null],
  // Placeholders, at free mail only.
  ...["test", "asdff", "qwerty", "foo", "noemail", "xxx", "zxcv"].map(
    (name) => [`${name}@hotmail.com`, "fake", "placeholder"] as const,
  ),
  ["test@larch-and-oak.com", "ok", null],
  ...["1234567", "me", "mail", "user", "xkcdqp", "x"].map((name) => [`${name}@hotmail.com`, "ok", null] as const),
  // Typos.
  ["ann@gmai.com", "fake", "typo-domain: gmai.com"],
  ["ann@gamil.com", "fake", "typo-domain: gamil.com"],
  ["ann@hotmial.com", "fake", "typo-domain: hotmial.com"],
  ...["mail.com", "ymail.com", "email.com", "hitmail.com", "hicloud.com", "pcloud.com", "yahoo.co"].map(
    (domain) => [domain, "ok", null] as const,
  ),
];

test("idv check gives every example its status and reason", async () => {
  const { code, stdout } = await idv(["check", "--json", ...facts.map(([item]) => item)]);
  expect(code).toBe(0);
  const verdicts = jsonLines(Buffer.from(stdout, "latin1").toString());
  expect(verdicts.map(({ value, status, reason }) => [value, status, reason])).toEqual(facts);
});
