/** Covers the library's client of a service, as it is built, against a service of its own. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freePort } from "../../support/free-port.js";
import { createKey, serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const library = fileURLToPath(new URL("../../../dist/library/index.js", import.meta.url));
const { AuthorisationError, createClient, ServiceError }: typeof import("../../../src/index.js") = await import(
  library
);

const home = temporaryFolder();
const { url } = await serve(home, "-q");
const items = Array.from({ length: 450 }, (_, i) => `u${i}@${i % 5 ? "larch-and-oak.com" : "mailinator.com"}`);

async function all<Item>(iterable: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of iterable) found.push(item);
  return found;
}

test("gives the verdicts in order, in batches, and each item of a batch once", async () => {
  const client = createClient({ baseUrl: `${url}/`, apiKey: await createKey(home, { limit: 451 }) });
  const given = [...items, items[449]!, items[449]!];
  const statusOf = (item: string) => (item.endsWith("mailinator.com") ? "disposable" : "ok");
  const found = await all(client.validate("email", given));
  expect(found).toEqual(given.map((item) => ({ item, status: statusOf(item) })));
  const [domain] = await all(client.validate("domain", ["mailinator.com"]));
  expect(domain).toEqual({ item: "mailinator.com", status: "disposable" });
  await client.close();
});

test("marks what the quota does not reach, and goes on when there are units again", async () => {
  const client = createClient({ baseUrl: url, apiKey: await createKey(home, { limit: 300 }), batchSize: 50 });
  const found = await all(client.validate("email", items));
  expect(found.map(({ item }) => item)).toEqual(items);
  expect(found.filter(({ status }) => status === "quota_exceeded")).toHaveLength(150);
  const [late] = await all(client.validate("email", ["a@larch-and-oak.com"]));
  expect(late).toEqual({ item: "a@larch-and-oak.com", status: "quota_exceeded" });
  await client.close();
});

test("an iteration may end early", async () => {
  const client = createClient({ baseUrl: url, apiKey: await createKey(home), batchSize: 10 });
  for await (const { item } of client.validate("email", items)) if (item === items[25]) break;
  expect(await all(client.validate("email", ["x@mailinator.com"]))).toHaveLength(1);
  await client.close();
});

test("faults are errors of their classes, and the key goes only where it may", async () => {
  const wrong = createClient({ baseUrl: url, apiKey: "sk_wrong" });
  await expect(all(wrong.validate("email", items))).rejects.toThrow(AuthorisationError);
  const options = { apiKey: "sk_any", maxRetries: 0, timeout: 2000 };
  const nobody = createClient({ ...options, baseUrl: `http://127.0.0.1:${await freePort()}` });
  await expect(all(nobody.validate("email", items))).rejects.toThrow(ServiceError);
  expect(() => createClient({ ...options, baseUrl: "http://example.com" })).toThrow(TypeError);
  expect(() => createClient({ baseUrl: url, apiKey: "" })).toThrow(TypeError);
  await Promise.all([wrong.close(), nobody.close()]);
});
