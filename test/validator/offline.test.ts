/** Covers the offline engine on a real quota file: units are taken before verdicts are given. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { TestQuota } from "../support/quota.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("items beyond the quota are not checked, and cost nothing", async () => {
  const quotaFile = await TestQuota.open(join(temporaryFolder(), "quota.db"), Date.now);
  await quotaFile.configure({ limit: 3 });
  const validator = offlineValidator({ classifier, source: {} }, quotaFile);
  expect(validator).toMatchObject({ name: "offline", batchSize: 10_000 });
  const { signal } = new AbortController();
  const items = ["ann@larch-and-oak.com", "x@mailinator.com"];
  const first = await validator.validate("email", items, signal);
  expect(first).toMatchObject({ charged: 2, exhausted: false, quota: { left: 1 } });
  expect(first.verdicts.map(({ status }) => status)).toEqual(["ok", "disposable"]);
  const second = await validator.validate("email", items, signal);
  expect(second).toMatchObject({ charged: 1, exhausted: true, quota: { left: 0 } });
  expect(second.verdicts.map(({ status }) => status)).toEqual(["ok", "quota_exceeded"]);
  expect(await validator.embedded?.charge(1)).toMatchObject({ charged: 0, exhausted: true });
  expect(validator.explain?.("domain", "mailinator.com").status).toBe("disposable");
  expect((await quotaFile.read()).used).toBe(3);
  await quotaFile.close();
});
