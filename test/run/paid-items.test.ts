/** Covers what is known to be paid for by other runs, from their receipts alone. */
import { expect, test } from "vitest";
import { PaidItems } from "../../src/run/settle/paid-items.js";
import type { Receipt, ReceiptPort } from "../../src/validator/validator.js";

const receipt = (run: string, granted: number, items = 8192): Receipt => ({
  run,
  granted,
  used: 0,
  time: 0,
  marks: [{ items, digest: "d" }],
});

test.each<[string, Receipt[], number]>([
  ["of one charge", [receipt("a", 5000)], 5000],
  ["of a run that has waited for its quota", [receipt("a", 5000), receipt("a", 7000)], 7000],
  ["of that run, the last one first", [receipt("a", 7000), receipt("a", 5000)], 7000],
  ["of two runs", [receipt("a", 5000), receipt("b", 6000)], 6000],
  ["at another mark", [receipt("a", 5000, 4096)], 0],
])("receipts %s cover only items that were paid", (_, receipts, covered) => {
  const port: ReceiptPort = {
    secret: new Uint8Array(32),
    isNamed: false,
    take: async () => receipts,
    use: () => {},
    renew: () => {},
  };
  const paid = new PaidItems(port);
  paid.learn(receipts, []);
  paid.pass([{ items: 8192, digest: "d" }]);
  expect(paid.covered(8192)).toBe(covered);
});
