/** Covers that keys are looked up together, and unknown ones at most once a second. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { keySearch } from "../../src/server/service/key-search.js";
import type { ApiKey, Found } from "../../src/state/service/api-key.js";

test("requests that arrive together are one look-up; unknown secrets are not looked up again for a second", async () => {
  const asked: (readonly string[])[] = [];
  const keys = new Map<string, Found>([
    ["known", { id: "k1" } as ApiKey],
    ["ended", "ended"],
  ]);
  const find = keySearch(async (secrets) => {
    asked.push(secrets);
    return secrets.map((secret) => keys.get(secret));
  });
  const found = await Promise.all(["known", "ended", "none", undefined].map((secret) => find(secret)));
  expect(found).toEqual([{ id: "k1" }, undefined, undefined, undefined]);
  // Two groups run at a time.
  expect(asked).toEqual([["known", "none"], ["ended"]]);
  asked.length = 0;
  // A key that has ended may be made usable again, which counts at once.
  await Promise.all(["known", "ended", "none"].map((secret) => find(secret)));
  expect(asked.flat().sort()).toEqual(["ended", "known"]);
  keys.set("none", { id: "k2" } as ApiKey);
  await sleep(1050);
  expect(await find("none")).toEqual({ id: "k2" });
});

test("a failed look-up is the error of its requests, and is not remembered", async () => {
  let isBroken = true;
  const find = keySearch(async (secrets) => {
    if (isBroken) throw new Error("gone");
    return secrets.map(() => undefined);
  });
  await expect(find("a")).rejects.toThrow("gone");
  isBroken = false;
  expect(await find("a")).toBeUndefined();
});
