/** Covers the limits of the process that inspects a list, and that a job leaves no file and no process behind. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ListJob } from "../../src/dashboard/list-job.js";
import { PageFault } from "../../src/dashboard/page-fault.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A job whose process never ends by itself and is deaf to signals. */
function newJob({ folderMilliseconds = 0, lookMilliseconds = 60_000 } = {}) {
  const root = temporaryFolder();
  const children: ReturnType<typeof spawn>[] = [];
  const job = new ListJob({
    async newFolder() {
      await sleep(folderMilliseconds);
      return mkdtempSync(join(root, "list-"));
    },
    removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
    start(_, cwd) {
      const child = spawn(process.execPath, ["-e", "for (;;);"], {
        cwd,
        stdio: ["ignore", "ignore", "pipe"],
      });
      children.push(child);
      return child;
    },
    mostBytes: 1000,
    lookMilliseconds,
  });
  const left = () => [
    ...readdirSync(root),
    ...children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null),
  ];
  return { job, children, left };
}

const list = { name: "list.csv", kind: "email", column: "" } as const;

test("inspecting a list ends with an error after the time limit", async () => {
  const { job, left } = newJob({ lookMilliseconds: 200 });
  const taken = job.take(Readable.from(["email\n"]), list);
  await expect(taken).rejects.toThrow("It takes too long to look at the list; use the command line.");
  await job.end();
  expect(left()).toEqual([]);
});

test("ending a job while its list is inspected leaves no file and no process", async () => {
  const { job, children, left } = newJob();
  const taken = job.take(Readable.from(["email\n"]), list);
  taken.catch(() => {});
  await expect.poll(() => children.length).toBe(1);
  await job.end();
  expect(left()).toEqual([]);
  await expect(taken).rejects.toThrow(PageFault);
});

test("ending a job before or while its list arrives leaves no file and no process", async () => {
  const { job, children, left } = newJob({ folderMilliseconds: 20 });
  const taken = job.take(new Readable({ read() {} }), list);
  taken.catch(() => {});
  await job.end();
  await expect(taken).rejects.toThrow();
  expect(children).toEqual([]);
  expect(left()).toEqual([]);
});

test("an upload that breaks off while its folder is created fails with the error of the upload", async () => {
  const { job, left } = newJob({ folderMilliseconds: 20 });
  const upload = new Readable({ read() {} });
  const taken = job.take(upload, list);
  taken.catch(() => {});
  // As the parser of forms does, which does not destroy it.
  upload.emit("error", new Error("Part terminated early"));
  await expect(taken).rejects.toThrow("Part terminated early");
  await job.end();
  expect(left()).toEqual([]);
});
