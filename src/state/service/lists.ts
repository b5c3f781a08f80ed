/** Lists that servers check: one server works on a list until it is silent, then another does. Must not know files. */
import { timingSafeEqual } from "node:crypto";
import { deliverAll } from "../quota/deliveries.js";
import { releaseAll } from "../quota/reservations.js";
import { ask, type Clock, clock, insertion, listOf, type Parameter, type Statement, tell } from "../sql.js";
import type { ServiceDatabase } from "./database/database.js";
import { auditEntry } from "./database/statements.js";
import { answerMilliseconds } from "./rules.js";
import { hashOf } from "./secrets.js";

/** `gone`: its files are deleted, but a repeated request brings it back under its id, and it is not charged again. */
export type ListState = "arriving" | "found" | "waiting" | "running" | "done" | "failed" | "removed" | "gone";

export interface StoredList {
  readonly id: string;
  readonly name: string;
  readonly kind: "email" | "domain";
  readonly keyId: string | null;
  /** The person who has sent it; see {@link senderOf} for keys. */
  readonly who: string;
  readonly created: number;
  readonly changed: number;
  readonly state: ListState;
  readonly server: string;
  readonly alive: number;
  readonly attempt: number;
  /** Servers, one after another, that have ended while they checked it, and without progress. */
  readonly lostServers: number;
  readonly choices: unknown;
  readonly found: unknown;
  readonly progress: unknown;
  readonly result: unknown;
}

export interface NewList extends Pick<StoredList, "id" | "name" | "kind" | "keyId" | "who" | "server" | "choices"> {
  /** Identifies the request of a key, so that a repetition adds no list. */
  readonly once?: string | undefined;
}

export const reservationOf = ({ id, attempt }: Pick<StoredList, "id" | "attempt">): string => `list-${id}-${attempt}`;

export const senderOf = (keyId: string): string => `key ${keyId}`;

export interface ListChange {
  readonly state: ListState;
  readonly server?: string;
  readonly keyId?: string;
  readonly choices?: unknown;
  readonly found?: unknown;
  readonly result?: unknown;
  /** The attempt whose units are delivered with this change, and how many it has charged. */
  readonly delivers?: { readonly attempt: number; readonly units: number };
}

export type ListClaim = Pick<StoredList, "id" | "server" | "attempt">;

/** A server, and the lists that it works on. */
type Worker = { readonly server: string; readonly working: readonly string[] };

type Count = { readonly count: number };

type JsonColumn = "choices" | "found" | "progress" | "result";

type ListRow = Omit<StoredList, JsonColumn> & Record<JsonColumn, string | null> & { readonly choices: string };

const columns =
  'id, name, kind, key_id AS "keyId", who, created, changed, state, server, alive, attempt, lost_servers AS "lostServers", choices, found, progress, result';

const keysOfRoom = 5;

const isShown = "state NOT IN ('removed', 'gone')";
/** Its own lists are those that it works on: it may not know of a claim whose answer was lost. */
const isOwn = ({ working }: Worker, list = "") => `(${list}server = ? AND ${list}id IN (${listOf(["", ...working])}))`;
const ownOf = ({ server, working }: Worker): readonly string[] => [server, "", ...working];
const isUnclaimed = (worker: Worker) =>
  `(state = 'waiting' OR (state = 'running' AND alive < ? AND NOT ${isOwn(worker)}))`;

/** All methods throw StoreError when the state cannot be used. */
export class SqlLists {
  constructor(private readonly database: ServiceDatabase) {}

  /** Returns the list of the same request, if it was added before, and "full" beyond the limits. */
  add(
    { id, name, kind, keyId, who, server, choices, once }: NewList,
    most: { readonly ofKey: number; readonly ofAll: number },
  ): Promise<StoredList | "full"> {
    const hash = onceHash(keyId, once);
    return this.database.write(function* () {
      const same: Statement = [`SELECT ${columns} FROM {list} WHERE once = ?`, hash];
      const count = "SELECT count(*) AS count FROM {list} WHERE state <> 'gone'";
      const [[{ now }], [found], [ofKey], [ofAll]] = yield* ask<[[Clock], ListRow[], [Count], [Count]]>(
        clock,
        same,
        [`${count} AND key_id = ? AND who = ?`, keyId ?? "", who],
        [count],
      );
      if (found !== undefined && found.state !== "gone") return toList(found);
      // A few keys cannot take all the room: the less there is, the fewer lists a key may have.
      const room = Math.max(0, most.ofAll - ofAll.count);
      const ofRoom = room === 0 ? 0 : 1 + Math.floor(room / keysOfRoom);
      if (ofKey.count >= Math.min(most.ofKey, ofRoom)) return "full";
      if (found !== undefined) return toList(found);
      const target =
        "{list} (id, name, kind, key_id, who, created, changed, state, server, alive, attempt, choices, once)";
      const row = [id, name, kind, keyId, who, now, now, "arriving", server, now, 0, JSON.stringify(choices), hash];
      const end = `ON CONFLICT (once) DO NOTHING RETURNING ${columns}`;
      const [added] = yield* ask<[ListRow[]]>(insertion(target, [row], end));
      if (added[0] !== undefined) return toList(added[0]);
      const [[other]] = yield* ask<[[ListRow]]>(same);
      return toList(other);
    });
  }

  async has(keyId: string, once: string): Promise<boolean> {
    const [rows] = await this.database.read(() => ask(["SELECT 1 FROM {list} WHERE once = ?", onceHash(keyId, once)]));
    return rows!.length > 0;
  }

  async get(id: string): Promise<StoredList | undefined> {
    const [[row]] = await this.database.read(() =>
      ask<[ListRow[]]>([`SELECT ${columns} FROM {list} WHERE id = ? AND ${isShown}`, id]),
    );
    return row && toList(row);
  }

  async all(most: number, keyId?: string): Promise<readonly StoredList[]> {
    const [rows] = await this.database.read(() =>
      ask<[ListRow[]]>([
        `SELECT ${columns} FROM {list} WHERE ${isShown} ${keyId === undefined ? "" : "AND key_id = ? AND who = ?"}
        ORDER BY created DESC, id LIMIT ?`,
        ...(keyId === undefined ? [] : [keyId, senderOf(keyId)]),
        most,
      ]),
    );
    return rows.map(toList);
  }

  /** Changes a list in one of the states, while the `claim` holds; else returns undefined. */
  change(id: string, from: readonly ListState[], to: ListChange, claim?: ListClaim): Promise<StoredList | undefined> {
    const changed: [string, Parameter][] = [["state", to.state]];
    if (to.keyId !== undefined) changed.push(["key_id", to.keyId]);
    if (to.server !== undefined) changed.push(["server", to.server]);
    for (const name of ["choices", "found", "result"] as const) {
      if (to[name] !== undefined) changed.push([name, JSON.stringify(to[name])]);
    }
    return this.database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [rows] = yield* ask<[ListRow[]]>([
        `UPDATE {list} SET changed = ?, alive = ?, ${changed.map(([name]) => `${name} = ?`).join(", ")}
        WHERE id = ? AND state IN (${listOf(from)}) ${claim === undefined ? "" : "AND server = ? AND attempt = ?"}
        RETURNING ${columns}`,
        ...[now, now, ...changed.map(([, value]) => value), id, ...from],
        ...(claim === undefined ? [] : [claim.server, claim.attempt]),
      ]);
      const list = rows[0] && toList(rows[0]);
      // A list that broke off, or was refused, was never made.
      if (list !== undefined && from.includes("arriving") && (to.state === "waiting" || to.state === "found")) {
        const { who, name, keyId } = list;
        yield* tell(auditEntry({ at: now, who, what: `list made: ${name}`, keyId: keyId ?? "" }));
      }
      if (list !== undefined && to.delivers !== undefined) {
        const id = reservationOf({ id: list.id, attempt: to.delivers.attempt });
        yield* deliverAll({ keyId: list.keyId! }, id, list.kind, to.delivers.units);
      } else if (list !== undefined && claim !== undefined && from.includes("running") && list.keyId !== null) {
        // What its run has charged is free for the next one.
        yield* releaseAll({ keyId: list.keyId }, reservationOf(claim));
      }
      return list;
    });
  }

  /** Gives a sign of life, which a power failure may undo. Returns whether the claim still holds. */
  beat({ id, server, attempt }: ListClaim, progress?: unknown, isFurther = false): Promise<boolean> {
    return this.database.writeFast(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [rows] = yield* ask([
        `UPDATE {list} SET alive = ?, progress = ? ${isFurther ? ", lost_servers = 0" : ""}
        WHERE id = ? AND server = ? AND attempt = ? AND state IN ('arriving', 'running') RETURNING id`,
        ...[now, progress === undefined ? null : JSON.stringify(progress), id, server, attempt],
      ]);
      // Its run may have ended, and cannot do it.
      yield* tell(["UPDATE {reservation} SET alive = ? WHERE id = ?", now, reservationOf({ id, attempt })]);
      return rows!.length > 0;
    });
  }

  /** Keys take turns: fewest lists under way, then the one whose last list ended longest ago. People are one key. */
  claim(worker: Worker, silence: number, mostOfKey: number): Promise<StoredList | undefined> {
    const { server } = worker;
    const ofKey = (what: string, condition: string) =>
      `(SELECT ${what} FROM {list} AS other
        WHERE coalesce(other.key_id, '') = coalesce(mine.key_id, '') AND ${condition})`;
    const isOurs = `other.state = 'running' AND ${isOwn(worker, "other.")}`;
    return this.database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [rows] = yield* ask<[ListRow[]]>([
        `UPDATE {list} SET state = 'running', server = ?, alive = ?, attempt = attempt + 1, progress = NULL,
          lost_servers = CASE state WHEN 'running' THEN lost_servers + 1 ELSE 0 END
        WHERE id = (
          SELECT id FROM {list} AS mine WHERE ${isUnclaimed(worker)} AND ${ofKey("count(*)", isOurs)} < ?
          ORDER BY ${ofKey("count(*)", "other.state = 'running' AND (other.alive >= ? OR other.server = ?)")},
            ${ofKey("coalesce(max(other.changed), 0)", "other.state IN ('done', 'failed')")}, changed, id
          LIMIT 1 {skip})
        RETURNING ${columns}`,
        ...[server, now, now - silence, ...ownOf(worker), ...ownOf(worker), mostOfKey, now - silence, server],
      ]);
      return rows[0] && toList(rows[0]);
    });
  }

  /** Also returns ids of lists to remove: unfinished or removed ones after silence, others after `keep` ms. */
  async due(worker: Worker, silence: number, keep: number) {
    const [[{ now }]] = await this.database.read(() => ask<[[Clock]]>(clock));
    const [waiting, ended] = await this.database.read(() =>
      ask<[unknown[], { id: string }[]]>(
        [`SELECT 1 FROM {list} WHERE ${isUnclaimed(worker)} LIMIT 1`, now - silence, ...ownOf(worker)],
        [
          `SELECT id FROM {list} WHERE (state IN ('arriving', 'removed') AND alive < ?)
            OR (state IN ('found', 'done', 'failed') AND changed < ?) OR (state = 'gone' AND created < ?)`,
          ...[now - silence, now - keep, now - answerMilliseconds],
        ],
      ),
    );
    return { isWaiting: waiting.length > 0, ended: ended.map(({ id }) => id) };
  }

  /** Stores the hash of a body, or compares it with the stored one. Undefined for a removed list. */
  hasBody(id: string, hash: Uint8Array): Promise<boolean | undefined> {
    return this.database.write(function* () {
      const [[row]] = yield* ask<[{ body_hash: Uint8Array }[]]>([
        `UPDATE {list} SET body_hash = coalesce(body_hash, ?) WHERE id = ? AND ${isShown} RETURNING body_hash`,
        ...[hash, id],
      ]);
      return row && timingSafeEqual(row.body_hash, hash);
    });
  }

  /** A list whose request may be repeated is `gone` first. */
  async drop(id: string): Promise<void> {
    await this.database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      // Nothing was charged for a list that no server has begun to check.
      const toGone = `UPDATE {list} SET state = 'gone'
        WHERE id = ? AND state = 'removed' AND once IS NOT NULL AND attempt > 0 AND created >= ?`;
      const toNothing = "DELETE FROM {list} WHERE id = ? AND (state = 'removed' OR (state = 'gone' AND created < ?))";
      yield* tell([toGone, id, now - answerMilliseconds]);
      yield* tell([toNothing, id, now - answerMilliseconds]);
    });
  }
}

export type ListStore = Pick<SqlLists, keyof SqlLists>;

const onceHash = (keyId: string | null, once: string | undefined): Uint8Array | null =>
  once === undefined ? null : hashOf(`${keyId} ${once}`);

const toList = ({ choices, found, progress, result, ...row }: ListRow): StoredList => {
  const values = { found: parsed(found), progress: parsed(progress), result: parsed(result) };
  return { ...row, choices: JSON.parse(choices), ...values };
};

const parsed = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));
