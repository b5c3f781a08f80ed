/** Covers canonical forms, which identify a mailbox or a domain however it is spelled. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalItem } from "../../src/core/classifier/canonical.js";
import { times } from "../support/tier.js";

describe("canonicalItem", () => {
  test.each([
    ["Ann.Lee+News@GoogleMail.com", "annlee@gmail.com"],
    ["a.n.n.lee@gmail.com", "annlee@gmail.com"],
    ["Ann.Lee+x@Hotmail.se", "ann.lee@hotmail.se"],
    ["ann+@outlook.com", "ann@outlook.com"],
    ["ann+x@msn.com", "ann@msn.com"],
    ["Ann+x@proton.me", "ann@proton.me"],
    ["ann+x@mailbox.org", "ann@mailbox.org"],
    ["ann+x@fastmail.fm", "ann@fastmail.fm"],
    ["anything+x@Ann.fastmail.com", "ann@fastmail.com"],
    ["anything@Ann.fastmail.fm", "ann@fastmail.fm"],
    ["anything@ann.mm.st", "ann@mm.st"],
    ["ann+x@mm.st", "ann@mm.st"],
    ["Ann+x@icloud.com", "ann@icloud.com"],
    ["ann@me.com", "ann@icloud.com"],
    ["Ann.Lee@mac.com", "ann.lee@icloud.com"],
    ["Ann-Lee+x@yandex.com", "ann-lee@yandex.ru"],
    ["ann.lee@ya.ru", "ann-lee@yandex.ru"],
    ["+79871234567@yandex.kz", "79871234567@yandex.ru"],
    ["79871234567+x@ya.ru", "79871234567@yandex.ru"],
    ["Ann.Lee+x@protonmail.ch", "annlee@proton.me"],
    ["ann+x@pobox.com", "ann@pobox.com"],
    ["ann.lee+x@runbox.com", "ann.lee@runbox.com"],
    ["ann+x@rambler.ru", "ann@rambler.ru"],
    ["ann+x@zohomail.eu", "ann@zohomail.eu"],
    ["ann-lee@yandex.com.tr", "ann-lee@yandex.com.tr"],
    ["Ann_L.ee-x+y@protonmail.com", "annleex@proton.me"],
    ["ann@pm.me", "ann@proton.me"],
    ["-_-@proton.me", "-_-@proton.me"],
    ["ann.lee+x@posteo.de", "ann.lee@posteo.de"],
    ["Ann+x@zoho.eu", "ann@zoho.eu"],
    ["Ann+x@mail.ru", "ann@mail.ru"],
    // Left alone: Yahoo's base names are unknown.
    ["Ann-shop@yahoo.com", "ann-shop@yahoo.com"],
    ["Ann.Lee@T-Online.de", "ann.lee@t-online.de"],
    // Unknown providers: only the domain is normalised.
    ["Ann+News@Larch-and-Oak.com", "ann+news@larch-and-oak.com"],
    ["ANN.LEE@larch-and-oak.com", "ann.lee@larch-and-oak.com"],
    ["ann.lee@larch-and-oak.com", "ann.lee@larch-and-oak.com"],
    ["1234+Ann@users.noreply.github.com", "1234+ann@users.noreply.github.com"],
    ["Ann@Duck.com", "ann@duck.com"],
    ["+news@gmail.com", "+news@gmail.com"],
    ["ann@bücher.de", "ann@xn--bcher-kva.de"],
    ["Jürgen@xn--bcher-kva.de", "jürgen@xn--bcher-kva.de"],
    ['"ann lee"@b.net', '"ann lee"@b.net'],
    ['"ann.lee"@b.net', "ann.lee@b.net"],
    ["a.+b@hotmail.de", '"a."@hotmail.de'],
    ['"a\\"b\\\\c"@b.net', '"a\\"b\\\\c"@b.net'],
  ])("turns %s into %s", (item, expected) => expect(canonicalItem("email", item)).toBe(expected));

  test.each(["", "ann", "a@@b.net", "ann@[192.0.2.1]", "a..b@c.net"])("returns nothing for %j", (item) => {
    expect(canonicalItem("email", item)).toBeUndefined();
  });
});

test.each([
  ["Mailinator.COM.", "mailinator.com"],
  ["BÜCHER.de", "xn--bcher-kva.de"],
  ["a..b", undefined],
])("the canonical domain of %s is %s", (item, expected) => expect(canonicalItem("domain", item)).toBe(expected));

test("a canonical address is its own canonical address", () => {
  const names = "gmail.com hotmail.de ann.fastmail.com protonmail.com yandex.by me.com larch-and-oak.com bücher.de";
  const domain = fc.constantFrom(...names.split(" "));
  const local = fc.oneof(fc.string({ unit: fc.constantFrom(...'aB1.+"\\ é-'), minLength: 1 }), fc.emailAddress());
  fc.assert(
    fc.property(local, domain, (text, at) => {
      for (const item of [`${text}@${at}`, `${JSON.stringify(text)}@${at}`]) {
        const canonical = canonicalItem("email", item);
        if (canonical !== undefined) expect(canonicalItem("email", canonical)).toBe(canonical);
      }
    }),
    { numRuns: times(2000) },
  );
});
