/** Covers what is discarded when a run ends: also an output that is being opened at that moment. */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { Resources } from "../../../../src/cli/bulk/open/resources.js";

test("an output that is being opened when the run ends is discarded", async () => {
  const resources = new Resources(new AbortController().signal);
  resources.startFile();
  const discarded: string[] = [];
  const opening = setTimeout(20, "out.csv");
  void resources.open(opening, (name) => ({ discard: async () => void discarded.push(name) }));
  await resources.discardFile();
  expect(discarded).toEqual(["out.csv"]);
});

test("the end of a run waits a second for an output that never opens, and not for one that cannot", async () => {
  const resources = new Resources(new AbortController().signal);
  resources.startFile();
  void resources.open(new Promise<never>(() => {}), (output) => output);
  await expect(resources.open(Promise.reject(new Error("no room")), (output) => output)).rejects.toThrow("no room");
  await resources.discardFile();
});
