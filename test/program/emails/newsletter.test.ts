/** Covers a run over the newsletter fixture: every row gets its status, and the other columns keep every byte. */
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { expect, test } from "vitest";
import { makeNewsletter, newsletterHeader } from "../../support/newsletter.js";
import { fixtures, idv } from "../../support/run-idv.js";

const subscribers = makeNewsletter();
const run = await idv(["emails", `${fixtures}newsletter.csv`, "--log", "json"]);

test("fixtures/newsletter.csv is the output of the generator", async () => {
  const table = stringify([newsletterHeader, ...subscribers.map(({ fields }) => [...fields])]);
  await expect(table).toMatchFileSnapshot("../../../fixtures/newsletter.csv");
});

test("idv emails fixtures/newsletter.csv gives every row the expected status", () => {
  const { code, stdout, stderr } = run;
  const [header, ...records] = parse(Buffer.from(stdout, "latin1")) as string[][];
  expect(header).toEqual([...newsletterHeader, "status"]);
  expect(records).toEqual(subscribers.map(({ fields, status }) => [...fields, status]));
  expect(code).toBe(0);
  // On a slow machine, lines of progress come before it.
  const summary = JSON.parse(stderr.trimEnd().split("\n").at(-1)!);
  const { size } = new Set(subscribers.map(({ fields }) => fields[3]!.trim().toLowerCase()).filter(Boolean));
  expect(summary).toMatchObject({
    ...{ rows: 1000, inputs: [{ column: 4, columnName: "email" }], engine: "offline" },
    ...{ distinct: size, units: { used: size } },
  });
  for (const status of ["ok", "alias", "disposable", "fake", ""]) {
    const count = subscribers.filter((subscriber) => subscriber.status === status).length;
    expect(count).toBeGreaterThan(0);
    expect(status === "" ? summary.empty : summary.statuses[status]).toBe(count);
  }
});

test("the other columns keep every byte", () => {
  const { stdout } = run;
  const input = readFileSync(`${fixtures}newsletter.csv`, "latin1");
  const withoutStatus = stdout.replace(/,(?:status|ok|alias|disposable|fake|)$/gm, (match, offset: number) =>
    // A line end inside a quoted note does not end the record.
    stdout.slice(0, offset).split('"').length % 2 === 1 ? "" : match,
  );
  expect(withoutStatus).toBe(input);
});
