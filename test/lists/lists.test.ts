/** Covers lists over a real state: processes that hang, uploads that break off, and servers that take over or stop. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { ListResult } from "../../src/server/lists/list-facts.js";
import { Lists } from "../../src/server/lists/lists.js";
import { Refusal } from "../../src/server/refusal.js";
import { StoreError } from "../../src/state/errors.js";
import { openSqliteServiceStore } from "../../src/state/service/database/sqlite.js";
import { type ListStore, senderOf } from "../../src/state/service/lists.js";
import type { ServiceStore } from "../../src/state/service/service-store.js";
import { afterFile } from "../support/clean-up.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const sent = { name: "list.csv", kind: "email", who: "a person" } as const;
const forEver = "for (;;);";
/** Does as the command line does with a list: writes the files, and says their counts. */
const work = `const { writeFileSync } = require("node:fs");
  const value = (name) => process.argv[process.argv.indexOf(name) + 1];
  if (process.argv.includes("--dry-run")) {
    console.error(JSON.stringify({ type: "summary", dryRun: true, rows: 1, distinct: 1, outputs: [], groups: [], inputs: [{ name: "list.csv", column: 1, columns: [], otherColumns: [], passedOver: [], dialect: { delimiter: null } }] }));
  } else {
    writeFileSync(value("-o"), process.env.NAME);
    writeFileSync(value("--report"), "");
    console.error(JSON.stringify({ type: "summary", engine: "offline", inputs: [], outputs: [], groups: [], statuses: { ok: 1 }, rows: 1, written: 1, empty: 0, distinct: 1, distinctStatuses: { ok: 1 }, units: { used: 1, paidBefore: 0 } }));
  }`;

const opened: { lists: Lists; store: ServiceStore }[] = [];
afterEach(async () => {
  for (const { lists, store } of opened.splice(0)) {
    await lists.close();
    await store.close();
  }
});

/** Opens the lists of a server, whose processes do other work. */
async function openLists(
  place: { readonly state: string; readonly folder: string },
  {
    program = forEver,
    name = "",
    lookMilliseconds = 60_000,
    keepMilliseconds = 60_000,
    mostBytes = 1000,
    storeOf = (store: ListStore) => store,
  } = {},
) {
  const children: ChildProcess[] = [];
  const runs: (string | undefined)[] = [];
  const store = await openSqliteServiceStore(place.state, Date.now);
  const faults: string[] = [];
  const lists = new Lists({
    store: storeOf(store.lists),
    nameUnits: (units) => store.nameUnits(units),
    folder: place.folder,
    mostBytes,
    keepMilliseconds,
    onFault: ({ message }) => faults.push(message),
    runner: {
      lookMilliseconds,
      start(args, cwd, charge) {
        runs.push(charge && `${charge.keyId} ${charge.run}`);
        const child = spawn(process.execPath, ["-e", program, "--", ...args], {
          cwd,
          env: { ...process.env, NAME: name },
          stdio: ["ignore", "ignore", "pipe"],
        });
        children.push(child);
        afterFile(() => child.kill("SIGKILL"));
        return child;
      },
    },
  });
  opened.push({ lists, store });
  await lists.files.check();
  const alive = () => children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  return { lists, store, children, alive, runs, faults };
}

/** Returns the methods of a store, some of which a test replaces by faults. */
const methodsOf = (store: ListStore): ListStore => ({
  add: (list, most) => store.add(list, most),
  has: (keyId, once) => store.has(keyId, once),
  get: (id) => store.get(id),
  all: (most, keyId) => store.all(most, keyId),
  change: (id, from, to, claim) => store.change(id, from, to, claim),
  beat: (claim, progress, isFurther) => store.beat(claim, progress, isFurther),
  claim: (server, silence, mostOfKey) => store.claim(server, silence, mostOfKey),
  due: (server, silence, keep) => store.due(server, silence, keep),
  hasBody: (id, hash) => store.hasBody(id, hash),
  drop: (id) => store.drop(id),
});

const newPlace = () => {
  const root = temporaryFolder();
  const folder = join(root, "lists");
  return { state: join(root, "service.db"), folder, left: () => readdirSync(folder) };
};
const databaseOf = async ({ state }: { state: string }) =>
  new (await import("@photostructure/sqlite")).DatabaseSync(state);
const upload = (text = "email\n") => Readable.from([Buffer.from(text)]);
const choices = { drop: [], isSplit: false, dns: false };

describe("a list that arrives", () => {
  test.each([
    [
      'console.error(JSON.stringify({ type: "error", code: "row", message: "list.csv: bad; --try", plain: "list.csv: bad" })); throw new Error("here");',
      "list.csv: bad",
    ],
    ['throw new Error("here");', "the list cannot be checked"],
  ])("fails with the message of an error, without the lines of a bug", async (program, message) => {
    const { lists } = await openLists(newPlace(), { program });
    expect(await lists.take(upload(), sent, "").catch((error: Error) => error.message)).toBe(message);
  });

  test("fails after the time limit for its look", async () => {
    const place = newPlace();
    const { lists, alive } = await openLists(place, { lookMilliseconds: 200 });
    await expect(lists.take(upload(), sent, "")).rejects.toThrow(
      "Reading the list took too long; use the command line.",
    );
    expect([place.left(), alive(), await lists.all()]).toEqual([[], [], []]);
  });

  test("leaves no file and no process when it is removed", async () => {
    const place = newPlace();
    const { lists, children, alive } = await openLists(place);
    const taken = lists.take(upload(), sent, "");
    taken.catch(() => {});
    await expect.poll(() => children.length).toBe(1);
    const [list] = await lists.all();
    await lists.remove(list!.id);
    await expect(taken).rejects.toThrow(Refusal);
    expect([place.left(), alive(), await lists.all()]).toEqual([[], [], []]);
  });

  test("leaves nothing when its server stops", async () => {
    const place = newPlace();
    const { lists, children } = await openLists(place);
    const taken = lists.take(new Readable({ read() {} }), sent, "");
    taken.catch(() => {});
    await expect.poll(place.left).toHaveLength(1);
    await lists.close();
    await expect(taken).rejects.toThrow("The list was removed.");
    expect([place.left(), children]).toEqual([[], []]);
    await expect(lists.take(upload(), sent, "")).rejects.toThrow("about to stop");
  });

  test("fails with the error of an upload that breaks off at once", async () => {
    const place = newPlace();
    const { lists } = await openLists(place);
    const torn = new Readable({ read() {} });
    const taken = lists.take(torn, sent, "");
    taken.catch(() => {});
    // As the parser of forms does, which does not destroy it.
    torn.emit("error", new Error("Part terminated early"));
    await expect(taken).rejects.toThrow();
    expect([place.left(), await lists.all()]).toEqual([[], []]);
  });

  test("leaves no file although the state cannot be used", async () => {
    const place = newPlace();
    const broken = async () => {
      throw new StoreError("the state is full");
    };
    const { lists } = await openLists(place, {
      storeOf: (store) => ({ ...methodsOf(store), change: broken, hasBody: broken }),
    });
    const list = { ...sent, who: senderOf("k1"), keyId: "k1" };
    await expect(lists.submit(upload(), list, choices, "a")).rejects.toThrow("the state is full");
    await expect(lists.submit(upload("x".repeat(2000)), list, choices, "b")).rejects.toMatchObject({ statusCode: 413 });
    expect(place.left()).toEqual([]);
  });

  test("fails when the disk has no room for a list of its size", async () => {
    const place = newPlace();
    const { lists } = await openLists(place, { mostBytes: Number.MAX_SAFE_INTEGER });
    const list = { ...sent, who: senderOf("k1"), keyId: "k1", bytes: 2 ** 52 };
    await expect(lists.submit(upload(), list, choices, "a")).rejects.toMatchObject({
      statusCode: 507,
      message: "There is no room for the list on the server.",
    });
    expect([place.left(), await lists.all("k1")]).toEqual([[], []]);
  });

  test("fails when it is empty or too large, or when there is no folder", async () => {
    const place = newPlace();
    const { lists, faults } = await openLists(place, { program: work });
    await expect(lists.take(upload(""), sent, "")).rejects.toMatchObject({ statusCode: 400 });
    await expect(lists.take(upload("x".repeat(2000)), sent, "")).rejects.toMatchObject({ statusCode: 413 });
    expect(place.left()).toEqual([]);
    rmSync(place.folder, { recursive: true });
    writeFileSync(place.folder, "");
    await expect(lists.take(upload(), sent, "")).rejects.toMatchObject({
      statusCode: 503,
      message: expect.stringContaining("The folder for lists cannot be written"),
    });
    // The log has the reason.
    expect(faults[0]).toMatch(/^ENOTDIR: .*mkdir/);
    await expect(lists.files.check()).rejects.toMatchObject({ code: "EEXIST" });
  });
});

describe("a list of a key", () => {
  const submit = (lists: Lists, text?: string, once?: string) =>
    lists.submit(upload(text), { ...sent, who: senderOf("k1"), keyId: "k1" }, choices, once);

  test("stays one list for one Idempotency-Key, and another body is refused", async () => {
    const { lists, runs } = await openLists(newPlace(), { program: work });
    const first = await submit(lists, "email\n", "a");
    expect((await submit(lists, "email\n", "a")).id).toBe(first.id);
    await expect(submit(lists, "other\n", "a")).rejects.toMatchObject({ statusCode: 422 });
    const second = await submit(lists, "email\n", "b");
    await expect.poll(async () => (await lists.all("k1")).map(({ state }) => state)).toEqual(["done", "done"]);
    expect(runs.sort()).toEqual([`k1 list-${first.id}`, `k1 list-${second.id}`].sort());
    expect(await lists.all("k2")).toEqual([]);
  });

  test("stays if it has arrived although the state did not say so, as a repetition may have been told", async () => {
    let isBroken = true;
    const storeOf = (store: ListStore): ListStore => ({
      ...methodsOf(store),
      // The connection breaks after the commit.
      async change(id, from, to, claim) {
        const changed = await store.change(id, from, to, claim);
        if (to.state !== "waiting" || !isBroken) return changed;
        isBroken = false;
        throw new StoreError("the connection was closed");
      },
    });
    const { lists } = await openLists(newPlace(), { program: work, storeOf });
    await expect(submit(lists, "email\n", "a")).rejects.toThrow("the connection was closed");
    const arrived = await lists.all("k1");
    expect(arrived).toHaveLength(1);
    const { id } = await submit(lists, "email\n", "a");
    expect(id).toBe(arrived[0]!.id);
    await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
  });

  test("keeps the result of its end, although the state did not say that it is stored", async () => {
    let ends = 0;
    const storeOf = (store: ListStore): ListStore => ({
      ...methodsOf(store),
      async change(id, from, to, claim) {
        const changed = await store.change(id, from, to, claim);
        if (to.state !== "done" || ++ends > 1) return changed;
        throw new StoreError("the connection was closed");
      },
    });
    const { lists } = await openLists(newPlace(), { program: work, storeOf });
    const { id } = await submit(lists);
    await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
    await expect.poll(() => ends).toBe(2);
    // Time in which its files would be removed.
    await sleep(200);
    const list = (await lists.get(id))!;
    const { files } = list.result as Extract<ListResult, { files: unknown }>;
    expect(existsSync(lists.files.resultPath(list, files[0]!.name))).toBe(true);
  });

  test("is claimed again if its server does not know of the claim", async () => {
    let isBroken = true;
    const storeOf = (store: ListStore): ListStore => ({
      ...methodsOf(store),
      async claim(worker, silence, mostOfKey) {
        const claimed = await store.claim(worker, silence, mostOfKey);
        if (claimed === undefined || !isBroken) return claimed;
        isBroken = false;
        throw new StoreError("the connection was closed");
      },
    });
    const place = newPlace();
    const { lists } = await openLists(place, { program: work, storeOf });
    const { id } = await submit(lists);
    const database = await databaseOf(place);
    await expect
      .poll(async () => {
        // As if 15 seconds had passed.
        database.prepare("UPDATE list SET alive = alive - 60000 WHERE attempt = 1 AND state = 'running'").run();
        return await lists.get(id);
      })
      .toMatchObject({ state: "done", attempt: 2 });
    database.close();
  });

  /** Does something to a list as often as it is told to, before a step of its next request. */
  const interrupted = (between: (store: ListStore, id: string) => Promise<unknown>) => (store: ListStore) => ({
    ...methodsOf(store),
    async hasBody(id: string, hash: Uint8Array) {
      const run = between;
      between = async () => {};
      await run(store, id);
      return store.hasBody(id, hash);
    },
  });
  const removes = (store: ListStore, id: string) =>
    store.change(id, ["arriving", "waiting", "running", "done"], { state: "removed" });

  test.each([
    ["is being removed", removes],
    ["was removed", async (store: ListStore, id: string) => [await removes(store, id), await store.drop(id)]],
  ])("needs to be sent again if the list of its request %s while it arrives", async (_, between) => {
    const place = newPlace();
    const { lists } = await openLists(place, { program: work, storeOf: interrupted(between) });
    await expect(submit(lists, "email\n", "a")).rejects.toMatchObject({ statusCode: 409 });
    const { id } = await submit(lists, "email\n", "a");
    await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
    // The same for a repetition of a list that has arrived.
    const other = await openLists(place, { program: work, storeOf: interrupted(between) });
    await expect(submit(other.lists, "email\n", "a")).rejects.toMatchObject({ statusCode: 409 });
  });

  test("fails beyond the limit, but for a repetition, however many come at once", async () => {
    const { lists, store } = await openLists(newPlace(), { program: work });
    const { id } = await submit(lists, "email\n", "first");
    await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
    const most = { ofKey: 3, ofAll: 100 };
    const list = { name: "a", kind: "email", keyId: "k1", who: senderOf("k1"), server: "s", choices: {} } as const;
    const add = (id: string, change = {}, ofAll = most.ofAll) =>
      store.lists.add({ ...list, ...change, id }, { ...most, ofAll });
    const added = await Promise.all(["a", "b", "c", "d"].map((id) => add(id)));
    expect(added.filter((each) => each === "full")).toHaveLength(2);
    expect(await add("e", { once: "first" })).toMatchObject({ id });
    expect(await add("f", { keyId: "k2", who: senderOf("k2") })).toMatchObject({ id: "f" });
    expect(await add("g", { keyId: null, who: "anna" })).toMatchObject({ id: "g" });
    expect(await add("h", { keyId: null, who: "anna" }, 5)).toBe("full");
  });

  test("passes from a server that is gone to another, and a late end changes nothing", async () => {
    const place = newPlace();
    const slow = await openLists(place);
    const { id } = await submit(slow.lists);
    await expect.poll(() => slow.children.length).toBe(1);
    const other = await openLists(place, { program: work, name: "second" });
    // As if the first server had been silent.
    const database = await databaseOf(place);
    await expect
      .poll(async () => {
        database.prepare("UPDATE list SET alive = alive - 60000 WHERE attempt = 1").run();
        return (await other.lists.get(id))?.state;
      })
      .toBe("done");
    database.close();
    await expect.poll(slow.alive).toEqual([]);
    const list = (await other.lists.get(id))!;
    expect(list).toMatchObject({ attempt: 2, state: "done" });
    const { files } = list.result as Extract<ListResult, { files: unknown }>;
    expect(readFileSync(other.lists.files.resultPath(list, files[0]!.name), "utf8")).toBe("second");
    expect(readdirSync(join(place.folder, id))).toEqual([".2", "list.csv"]);
    // Both runs had the same name, and so charge once.
    expect(slow.runs).toEqual(other.runs);
  });

  test("waits for another server when its own stops", async () => {
    const place = newPlace();
    const first = await openLists(place);
    const { id } = await submit(first.lists);
    await expect.poll(() => first.children.length).toBe(1);
    await first.lists.close();
    expect(first.alive()).toEqual([]);
    expect((await first.lists.get(id))?.state).toBe("waiting");
    const next = await openLists(place, { program: work });
    await expect.poll(async () => await next.lists.get(id)).toMatchObject({ state: "done" });
  });

  test("stops and disappears when a server that does not work on it removes it", async () => {
    const place = newPlace();
    const [worker, other] = [await openLists(place), await openLists(place)];
    const { id } = await submit(worker.lists);
    await expect.poll(() => worker.children.length + other.children.length).toBe(1);
    const { lists } = worker.children.length === 0 ? worker : other;
    await lists.remove(id);
    expect(await lists.get(id)).toBeUndefined();
    await expect.poll(() => [...worker.alive(), ...other.alive()]).toEqual([]);
    await expect.poll(place.left).toEqual([]);
  });

  test("fails with the reason if its process is ended, and can be tried again", async () => {
    const { lists } = await openLists(newPlace(), { program: "process.kill(process.pid, 'SIGKILL')" });
    const { id } = await submit(lists);
    await expect
      .poll(async () => (await lists.get(id))?.result)
      .toMatchObject({ fault: "The check was killed, perhaps for lack of memory. Use the command line." });
    expect(await lists.start(id)).toMatchObject({ state: "waiting" });
    await expect.poll(async () => (await lists.get(id))?.attempt).toBe(2);
    expect(await lists.start("none")).toBeUndefined();
  });

  test.each([
    ["its time has ended", { keepMilliseconds: 300 }],
    ["it was removed", {}],
  ])("runs again under the same name when its request is repeated, though %s", async (_, options) => {
    const place = newPlace();
    const { lists, runs, store } = await openLists(place, { program: work, ...options });
    const { id } = await submit(lists, "email\n", "a");
    await expect.poll(() => runs.length).toBe(1);
    if (!("keepMilliseconds" in options)) {
      await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
      await lists.remove(id);
    }
    await expect.poll(() => lists.get(id)).toBeUndefined();
    await expect.poll(place.left).toEqual([]);
    expect([await lists.all("k1"), await lists.store.has("k1", "a")]).toEqual([[], true]);
    // Another body, also one that breaks off, changes nothing about the first request. Until the removal ends, the answer is 409.
    const statusOf = (text: string) => submit(lists, text, "a").catch(({ statusCode }) => statusCode);
    await expect.poll(() => statusOf("other\n")).toBe(422);
    await expect(submit(lists, "", "a")).rejects.toMatchObject({ statusCode: 400 });
    expect(place.left()).toEqual([]);
    expect(await submit(lists, "email\n", "a")).toMatchObject({ id, state: "waiting", attempt: 1 });
    await expect.poll(() => runs).toEqual([`k1 list-${id}`, `k1 list-${id}`]);
    await expect.poll(async () => (await store.lists.get(id))?.attempt).toBe(2);
  });

  test("leaves the state a day after its request, and at once without an Idempotency-Key or a check", async () => {
    const place = newPlace();
    const { lists, store } = await openLists(place, { program: work });
    const database = await databaseOf(place);
    const rows = () => database.prepare("SELECT id FROM list").all().length;
    const [known, unnamed] = [await submit(lists, "email\n", "a"), await submit(lists)];
    for (const { id } of [known, unnamed]) {
      await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
      await lists.remove(id);
    }
    await expect(submit(lists, "", "b")).rejects.toMatchObject({ statusCode: 400 });
    expect([rows(), await lists.store.has("k1", "a"), await lists.store.has("k1", "b")]).toEqual([1, true, false]);
    // As if a day had passed.
    database.prepare("UPDATE list SET created = created - 86400001").run();
    await expect.poll(rows).toBe(0);
    database.close();
    expect(await store.lists.has("k1", "a")).toBe(false);
  });

  test("does not count among the lists once it is gone", async () => {
    const { lists, store } = await openLists(newPlace(), { program: work });
    const { id } = await submit(lists, "email\n", "a");
    await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
    await lists.remove(id);
    const most = { ofKey: 1, ofAll: 1 };
    const one = { name: "a", kind: "email", keyId: "k1", who: senderOf("k1"), server: "s", choices: {} } as const;
    expect(await store.lists.add({ ...one, id: "b" }, most)).toMatchObject({ id: "b" });
    expect(await store.lists.add({ ...one, id: "c", once: "a" }, most)).toBe("full");
  });

  test("fails once it has ended five servers in a row, without progress", async () => {
    const place = newPlace();
    const { store } = await openLists(place);
    const list = { id: "a", name: "a", kind: "email", keyId: "k1", who: senderOf("k1"), server: "s", choices } as const;
    await store.lists.add(list, { ofKey: 9, ofAll: 9 });
    await store.lists.change("a", ["arriving"], { state: "waiting" });
    const lost = async (server: string, isFurther = false) => {
      const claimed = await store.lists.claim({ server, working: [] }, -1, 9);
      await store.lists.beat(claimed!, { rows: 1, share: null, units: Number(isFurther) }, isFurther);
      return claimed!.lostServers;
    };
    expect([await lost("a"), await lost("b", true), await lost("c"), await lost("d")]).toEqual([0, 1, 1, 2]);
    expect([await lost("e"), await lost("f")]).toEqual([3, 4]);
    const database = await databaseOf(place);
    database.prepare("UPDATE list SET alive = alive - 60000").run();
    database.close();
    const { lists, children } = await openLists(place);
    await expect.poll(async () => (await lists.get("a"))?.state).toBe("failed");
    expect((await lists.get("a"))?.result).toEqual({
      counted: { statuses: {}, notChecked: 0 },
      fault: "The server was lost 5 times while checking the list; use the command line.",
    });
    expect(children).toEqual([]);
    // A person may try again.
    expect(await lists.start("a")).toMatchObject({ state: "waiting" });
    await expect.poll(async () => (await lists.get("a"))?.lostServers).toBe(0);
  });

  test("leaves nothing on the disk if its result has no room", async () => {
    const place = newPlace();
    const { lists, children } = await openLists(place);
    const { id } = await submit(lists);
    await expect.poll(() => children.length).toBe(1);
    // In place of a disk that others fill meanwhile.
    lists.files.room = async () => -1;
    await expect.poll(async () => (await lists.get(id))?.state).toBe("failed");
    expect((await lists.get(id))?.result).toMatchObject({ fault: "There is no room for the list on the server." });
    expect(place.left()).toEqual([]);
    await lists.start(id);
    await expect
      .poll(async () => (await lists.get(id))?.result)
      .toMatchObject({ fault: "The list is not on the server any more; send it again." });
  });

  test("disappears after a while", async () => {
    const place = newPlace();
    const { lists } = await openLists(place, { program: work, keepMilliseconds: 500 });
    const { id } = await submit(lists);
    await expect.poll(async () => (await lists.get(id))?.state).toBe("done");
    await expect.poll(() => lists.get(id)).toBeUndefined();
    await expect.poll(place.left).toEqual([]);
  });
});
