/** Covers flags that are found in bytes: they are those that the text of an address has. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { flagsOf, roleNames } from "../../src/core/classifier/flags/flags.js";
import { hashItem } from "../../src/core/classifier/tables/item-hash.js";
import { PlainFlags, plainFlagsOf } from "../../src/core/run/blocks/plain-flags.js";
import type { TableShape } from "../../src/core/table/records.js";

const seed = new Int32Array([1, 2]);
const before = "id,";

/** Finds the flags of a plain item in a row, as a thread does. */
function found(plain: PlainFlags, item: string) {
  const bytes = Buffer.from(`${before}${item},note\n`);
  const start = before.length + item.indexOf("@") + 1;
  const domain = item.slice(item.indexOf("@") + 1);
  const { low, high } = hashItem(seed, domain.toLowerCase());
  return plain.of(bytes, Int32Array.of(low, high, start, domain.length), 0);
}

const words = fc.constantFrom(
  ...roleNames(),
  ..."asdf qwer abcd aaaa blahblah none fake nospam feifei anna".split(" "),
);
const letters = fc.stringMatching(/^[a-z0-9]{1,9}$/);
const part = fc.oneof(
  words,
  letters,
  fc.stringMatching(/^[a-d]{1,4}$/).map((unit) => unit + unit),
);
const local = fc
  .tuple(
    fc.array(part, { minLength: 1, maxLength: 5 }),
    fc.constantFrom("", ".", "-", "_"),
    fc.constantFrom("", "+no-reply", "+x"),
  )
  .map(([parts, separator, tag]) => parts.join(separator) + tag);
const domain = fc.constantFrom(
  ..."gmail.com GMAIL.com yahoo.co.uk larch-and-oak.com duck.com ann.anonaddy.com vtext.com riseup.net".split(" "),
);

test("flags in bytes are those of the text, or the text is looked at", () => {
  const [emails, domains] = [new PlainFlags("email"), new PlainFlags("domain")];
  const item = fc.tuple(fc.oneof(local, fc.constant("no-reply"), fc.constant("j.o.h.n")), domain);
  fc.assert(
    fc.property(item, ([local, domain]) => {
      const address = `${local}@${domain}`;
      const flags = found(emails, address);
      if (flags !== undefined) expect(flags).toEqual(flagsOf("email", address));
      expect(found(domains, domain)).toEqual(flagsOf("domain", domain));
    }),
    { numRuns: 3000 },
  );
});

test.each(["hugo.costa@gmail.com", "grace.lee+news@larch-and-oak.com", "david.brown7@vtext.com"])(
  "%s needs no text",
  (address) => expect(found(new PlainFlags("email"), address)).toEqual(flagsOf("email", address)),
);

test.each([
  ...["info@gmail.com", "no-reply@larch-and-oak.com", "a.b.c.d@gmail.com", "asdasd@gmail.com", "aaaa1@gmail.com"],
  ...["info+x@gmail.com", "Ann@gmail.com", "ann@b\u00fccher.de", "ann'o@gmail.com"],
])("the text of %s is looked at", (address) => expect(found(new PlainFlags("email"), address)).toBeUndefined());

test.each([
  [",", '"', true],
  [";", "'", true],
  [null, "", true],
  ...["x", "e", "1", "-", "_", "+", "."].map((delimiter) => [delimiter, '"', false] as const),
  [",", "_", false],
] as const)("flags are in bytes between %j with the quote %j: %j", (delimiter, quote, expected) => {
  const shape = { dialect: { delimiter, quote } } as TableShape;
  expect(plainFlagsOf("email", shape) !== undefined).toBe(expected);
});
