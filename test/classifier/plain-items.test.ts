/** Covers the fast path over bytes: it returns the classifier's verdict or leaves the item to the classifier. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashItem } from "../../src/classifier/item-hash.js";
import { PlainItems } from "../../src/classifier/plain-items.js";
import { itemKey } from "../../src/run/item.js";
import { offlineStatuses } from "../../src/run/status-codes.js";
import type { Kind } from "../../src/validator/validator.js";
import { classifier } from "../support/classifier.js";

const seed = new Int32Array([20_261_121, -7]);
const plain = new PlainItems(classifier, seed);

/** Judges an item in the middle of a buffer; undefined if it is left to the classifier. */
function classifyPlain(kind: Kind, item: string) {
  const bytes = Buffer.from(`x@y.net,${item},z`);
  const code = plain.classify(kind, bytes, 8, bytes.length - 2);
  return code === 0
    ? undefined
    : { status: offlineStatuses[code], hash: { low: plain.low, high: plain.high } };
}

const expected = (kind: Kind, item: string) => ({
  status: classifier.classify(kind, item).status,
  hash: hashItem(seed, itemKey(item)),
});

const atoms = fc.string({ unit: fc.constantFrom(..."aAzZ09_-+'#é\" "), minLength: 0, maxLength: 12 });
const local = fc.oneof(
  fc.constantFrom(
    "test",
    "you",
    "ann.lee",
    "Ann+News",
    "qwert",
    "aaaa",
    "888888",
    "a".repeat(64),
    "a".repeat(65),
  ),
  fc.array(atoms, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(".")),
);
const label = fc.oneof(
  fc.constantFrom("xn--bcher-kva", "XN--a", "a-b", "-a", "a-", "a".repeat(63), "a".repeat(64), "bücher", "9"),
  fc.string({ unit: fc.constantFrom(..."abC1-"), minLength: 0, maxLength: 6 }),
);
const domain = fc.oneof(
  fc.constantFrom(
    ..."gmail.com GMail.com domain.com test.com googlemail.com yahoo.com hotmail.se icloud.com yandex.ru qq.com web.de".split(
      " ",
    ),
    ..."users.noreply.github.com ann.fastmail.com duck.com x.anonaddy.com mailinator.com a.b.mailinator.com".split(
      " ",
    ),
    ..."gmial.com localhost example.com co.uk company.con 192.0.2.1 larch-and-oak.com eu.org".split(" "),
  ),
  fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join(".")),
);
const address = fc
  .tuple(local, fc.constantFrom("@", "@", "@", "@", "", "@@"), domain)
  .map((parts) => parts.join(""));

describe("random items", () => {
  test.each<[Kind, fc.Arbitrary<string>]>([
    ["email", address],
    ["domain", fc.oneof(domain, address)],
  ])("get the verdict and hash of the classifier, for kind %s", (kind, items) => {
    let said = 0;
    fc.assert(
      fc.property(items, (item) => {
        const judged = classifyPlain(kind, item);
        if (judged === undefined) return;
        said++;
        expect(judged).toEqual(expected(kind, item));
      }),
      { numRuns: 5000 },
    );
    expect(said).toBeGreaterThan(500);
  });
});

test.each([
  "ann.lee@larch-and-oak.com",
  "Ann+News@Gmail.com",
  "o'neil_9@sub.example.net",
  `${"a".repeat(64)}@b.net`,
])("judges %s without the classifier", (item) => {
  expect(classifyPlain("email", item)).toEqual(expected("email", item));
});

test.each([
  "",
  "@",
  "a@",
  "@b.net",
  "a@@b.net",
  ".a@b.net",
  "a.@b.net",
  "a..b@c.net",
  "a b@c.net",
  '"a"@b.net',
  "é@b.net",
  "a@b..net",
  "a@-b.net",
  "a@b.net.",
  "a@xn--bcher-kva.de",
  `${"a".repeat(65)}@b.net`,
  `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(63)}.net`,
])("leaves $0 to the classifier", (item) => {
  expect(classifyPlain("email", item)).toBeUndefined();
});

test("stays correct with more domains than it remembers", () => {
  for (let i = 0; i < 300_000; i++) classifyPlain("domain", `d${i}.com`);
  for (const item of ["d1.com", "mailinator.com", "d299999.com"]) {
    expect(classifyPlain("domain", item)).toEqual(expected("domain", item));
  }
});

test("hashes an address and its domain differently", () => {
  expect(hashItem(seed, "@b.net")).not.toEqual(hashItem(seed, "b.net"));
});
