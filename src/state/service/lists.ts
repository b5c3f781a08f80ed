/**
 * Lists that servers check, as rows that any server may read and one at a time works on. A server gives signs of life;
 * without one for a while, another server takes the list over. Must not know files, nor what is in the columns of JSON.
 */
import { timingSafeEqual } from "node:crypto";
import { deliverAll } from "../quota/reservations.js";
import { ask, type Clock, clock, insertion, listOf, type Parameter, tell } from "../sql.js";
import type { ServiceDatabase } from "./database/database.js";
import { answerMilliseconds } from "./rules.js";
import { hashOf } from "./secrets.js";

/**
 * `arriving`: a server receives it. `found`: its table is known, and choices are awaited. `waiting`: for a server.
 * `removed`: its files are still to be deleted. `gone`: they are deleted; the row is kept for a repeated request, which
 * brings the list back under the same id, so that its run is not charged again.
 */
export type ListState = "arriving" | "found" | "waiting" | "running" | "done" | "failed" | "removed" | "gone";

export interface StoredList {
  readonly id: string;
  readonly name: string;
  readonly kind: "email" | "domain";
  /** Id of the key that is charged; null if none was chosen. */
  readonly keyId: string | null;
  /** Name of the person who has sent it; see {@link senderOf} for keys. */
  readonly who: string;
  /** In milliseconds since the epoch, as are the other times. */
  readonly created: number;
  /** Time of the last change of its state. */
  readonly changed: number;
  readonly state: ListState;
  /** Server that works on it, or did last. */
  readonly server: string;
  /** Last sign of life of that server. */
  readonly alive: number;
  /** Number of times that a server has begun to check it. */
  readonly attempt: number;
  /** Number of servers, one after another, that have ended while they checked it, and without progress. */
  readonly lostServers: number;
  readonly choices: unknown;
  readonly found: unknown;
  readonly progress: unknown;
  readonly result: unknown;
}

export interface NewList
  extends Pick<StoredList, "id" | "name" | "kind" | "keyId" | "who" | "server" | "choices"> {
  /** Text that identifies the request of a key, so that a repetition adds no list. */
  readonly once?: string | undefined;
}

/** Returns the id of the reservation of an attempt at a list. */
export const reservationOf = ({ id, attempt }: Pick<StoredList, "id" | "attempt">): string =>
  `list-${id}-${attempt}`;

/** Returns `who` of the lists that a key has sent. */
export const senderOf = (keyId: string): string => `key ${keyId}`;

export interface ListChange {
  readonly state: ListState;
  readonly server?: string;
  readonly keyId?: string;
  readonly choices?: unknown;
  readonly found?: unknown;
  readonly result?: unknown;
  /** The units that are delivered with this change: those of an attempt at the list, and how many it has charged. */
  readonly delivers?: { readonly attempt: number; readonly units: number };
}

/** A server's work on a list; it ends when another server has taken the list over. */
export type ListClaim = Pick<StoredList, "id" | "server" | "attempt">;

/** All methods throw StoreError when the state cannot be used. */
export interface ListStore {
  /**
   * Adds a list that arrives; returns the one of the same request, if it was added before, and "full" beyond the limits.
   */
  add(list: NewList, most: { readonly ofKey: number; readonly ofAll: number }): Promise<StoredList | "full">;
  /** Returns whether a key has sent a list with a text that identifies its request. */
  has(keyId: string, once: string): Promise<boolean>;
  get(id: string): Promise<StoredList | undefined>;
  /**
   * Returns the newest lists that are not removed, the newest first.
   *
   * @param keyId only those that this key has sent
   */
  all(most: number, keyId?: string): Promise<readonly StoredList[]>;
  /**
   * Changes a list that is in one of some states. Returns undefined, without a change, if it is not.
   *
   * @param claim changes it only if the claim still holds
   */
  change(
    id: string,
    from: readonly ListState[],
    to: ListChange,
    claim?: ListClaim,
  ): Promise<StoredList | undefined>;
  /**
   * Gives a sign of life. Returns whether the claim still holds. A power failure may undo it.
   *
   * @param isFurther whether the work is further than that of servers before
   */
  beat(claim: ListClaim, progress?: unknown, isFurther?: boolean): Promise<boolean>;
  /**
   * Claims a list that waits, or whose server has given no sign of life for a while. Keys take turns: first one with the fewest
   * lists under way, then the one whose last list ended longest ago; of a key, the list that waits longest. All lists of people
   * take turns with the keys as those of one.
   *
   * @param silence in milliseconds
   * @param mostOfKey lists of a key that this server works on at once
   */
  claim(server: string, silence: number, mostOfKey: number): Promise<StoredList | undefined>;
  /**
   * Returns whether a list waits for the server, and the ids of lists to be removed: those of which nothing was heard for
   * a while as they arrived or were removed, and those that have rested for `keep` milliseconds.
   */
  due(
    server: string,
    silence: number,
    keep: number,
  ): Promise<{ readonly isWaiting: boolean; readonly ended: readonly string[] }>;
  /**
   * Compares the hash of a body with the stored one, or stores it if there is none. Returns whether they are equal, and
   * undefined for a list that was removed.
   */
  hasBody(id: string, hash: Uint8Array): Promise<boolean | undefined>;
  /** Deletes the row of a list whose files are deleted. That of a list whose request may be repeated is `gone` first. */
  drop(id: string): Promise<void>;
}

type JsonColumn = "choices" | "found" | "progress" | "result";

type ListRow = Omit<StoredList, JsonColumn> & {
  readonly [name in Exclude<JsonColumn, "choices">]: string | null;
} & { readonly choices: string };

const columns =
  'id, name, kind, key_id AS "keyId", who, created, changed, state, server, alive, attempt, lost_servers AS "lostServers", choices, found, progress, result';

/** Number of keys that can share the room that is left for lists. */
const keysOfRoom = 5;

const isShown = "state NOT IN ('removed', 'gone')";
/** A server does not take over from itself: a run of it that was silent goes on. */
const isUnclaimed = "(state = 'waiting' OR (state = 'running' AND alive < ? AND server <> ?))";

export class SqlLists implements ListStore {
  readonly #database: ServiceDatabase;

  constructor(database: ServiceDatabase) {
    this.#database = database;
  }

  add(
    { id, name, kind, keyId, who, server, choices, once }: NewList,
    most: { readonly ofKey: number; readonly ofAll: number },
  ): Promise<StoredList | "full"> {
    const hash = onceHash(keyId, once);
    return this.#database.write(function* () {
      const [[{ now }], [found], [ofKey], [ofAll]] = yield* ask<
        [[Clock], ListRow[], [{ count: number }], [{ count: number }]]
      >(
        clock,
        [`SELECT ${columns} FROM {list} WHERE once = ?`, hash],
        [
          "SELECT count(*) AS count FROM {list} WHERE key_id = ? AND who = ? AND state <> 'gone'",
          ...[keyId ?? "", who],
        ],
        ["SELECT count(*) AS count FROM {list} WHERE state <> 'gone'"],
      );
      if (found !== undefined && found.state !== "gone") return toList(found);
      // A few keys cannot take all the room: the less there is, the fewer lists a key may have.
      const room = Math.max(0, most.ofAll - ofAll.count);
      const ofRoom = room === 0 ? 0 : 1 + Math.floor(room / keysOfRoom);
      if (ofKey.count >= Math.min(most.ofKey, ofRoom)) return "full";
      if (found !== undefined) return toList(found);
      const [added] = yield* ask<[ListRow[]]>(
        insertion(
          "{list} (id, name, kind, key_id, who, created, changed, state, server, alive, attempt, choices, once)",
          [[id, name, kind, keyId, who, now, now, "arriving", server, now, 0, JSON.stringify(choices), hash]],
          `ON CONFLICT (once) DO NOTHING RETURNING ${columns}`,
        ),
      );
      if (added[0] !== undefined) return toList(added[0]);
      // Added meanwhile.
      const [[row]] = yield* ask<[[ListRow]]>([`SELECT ${columns} FROM {list} WHERE once = ?`, hash]);
      return toList(row);
    });
  }

  async has(keyId: string, once: string): Promise<boolean> {
    const [rows] = await this.#database.read(() =>
      ask(["SELECT 1 FROM {list} WHERE once = ?", onceHash(keyId, once)]),
    );
    return rows!.length > 0;
  }

  async get(id: string): Promise<StoredList | undefined> {
    const [[row]] = await this.#database.read(() =>
      ask<[ListRow[]]>([`SELECT ${columns} FROM {list} WHERE id = ? AND ${isShown}`, id]),
    );
    return row && toList(row);
  }

  async all(most: number, keyId?: string): Promise<readonly StoredList[]> {
    const [rows] = await this.#database.read(() =>
      ask<[ListRow[]]>([
        `SELECT ${columns} FROM {list} WHERE ${isShown} ${keyId === undefined ? "" : "AND key_id = ? AND who = ?"}
        ORDER BY created DESC, id LIMIT ?`,
        ...(keyId === undefined ? [] : [keyId, senderOf(keyId)]),
        most,
      ]),
    );
    return rows.map(toList);
  }

  change(
    id: string,
    from: readonly ListState[],
    to: ListChange,
    claim?: ListClaim,
  ): Promise<StoredList | undefined> {
    const changed: [string, Parameter][] = [["state", to.state]];
    if (to.keyId !== undefined) changed.push(["key_id", to.keyId]);
    if (to.server !== undefined) changed.push(["server", to.server]);
    for (const name of ["choices", "found", "result"] as const) {
      if (to[name] !== undefined) changed.push([name, JSON.stringify(to[name])]);
    }
    return this.#database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [rows] = yield* ask<[ListRow[]]>([
        `UPDATE {list} SET changed = ?, alive = ?, ${changed.map(([name]) => `${name} = ?`).join(", ")}
        WHERE id = ? AND state IN (${listOf(from)}) ${claim === undefined ? "" : "AND server = ? AND attempt = ?"}
        RETURNING ${columns}`,
        ...[now, now, ...changed.map(([, value]) => value), id, ...from],
        ...(claim === undefined ? [] : [claim.server, claim.attempt]),
      ]);
      const list = rows[0] && toList(rows[0]);
      if (list !== undefined && to.delivers !== undefined) {
        const id = reservationOf({ id: list.id, attempt: to.delivers.attempt });
        yield* deliverAll({ keyId: list.keyId! }, id, list.kind, to.delivers.units);
      }
      return list;
    });
  }

  beat({ id, server, attempt }: ListClaim, progress?: unknown, isFurther = false): Promise<boolean> {
    return this.#database.writeFast(function* () {
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

  claim(server: string, silence: number, mostOfKey: number): Promise<StoredList | undefined> {
    const ofKey = (what: string, condition: string) =>
      `(SELECT ${what} FROM {list} AS other
        WHERE coalesce(other.key_id, '') = coalesce(mine.key_id, '') AND ${condition})`;
    const isOurs = "other.state = 'running' AND other.server = ?";
    return this.#database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [rows] = yield* ask<[ListRow[]]>([
        `UPDATE {list} SET state = 'running', server = ?, alive = ?, attempt = attempt + 1, progress = NULL,
          lost_servers = CASE state WHEN 'running' THEN lost_servers + 1 ELSE 0 END
        WHERE id = (
          SELECT id FROM {list} AS mine WHERE ${isUnclaimed} AND ${ofKey("count(*)", isOurs)} < ?
          ORDER BY ${ofKey("count(*)", "other.state = 'running' AND (other.alive >= ? OR other.server = ?)")},
            ${ofKey("coalesce(max(other.changed), 0)", "other.state IN ('done', 'failed')")}, changed, id
          LIMIT 1 {skip})
        RETURNING ${columns}`,
        ...[server, now, now - silence, server, server, mostOfKey, now - silence, server],
      ]);
      return rows[0] && toList(rows[0]);
    });
  }

  async due(server: string, silence: number, keep: number) {
    const now = await this.#now();
    const [waiting, ended] = await this.#database.read(() =>
      ask<[unknown[], { id: string }[]]>(
        [`SELECT 1 FROM {list} WHERE ${isUnclaimed} LIMIT 1`, now - silence, server],
        [
          `SELECT id FROM {list} WHERE (state IN ('arriving', 'removed') AND alive < ?)
            OR (state IN ('found', 'done', 'failed') AND changed < ?) OR (state = 'gone' AND created < ?)`,
          ...[now - silence, now - keep, now - answerMilliseconds],
        ],
      ),
    );
    return { isWaiting: waiting.length > 0, ended: ended.map(({ id }) => id) };
  }

  async #now(): Promise<number> {
    const [[{ now }]] = await this.#database.read(() => ask<[[Clock]]>(clock));
    return now;
  }

  hasBody(id: string, hash: Uint8Array): Promise<boolean | undefined> {
    return this.#database.write(function* () {
      const [[row]] = yield* ask<[{ body_hash: Uint8Array }[]]>([
        `UPDATE {list} SET body_hash = coalesce(body_hash, ?) WHERE id = ? AND ${isShown} RETURNING body_hash`,
        ...[hash, id],
      ]);
      return row && timingSafeEqual(row.body_hash, hash);
    });
  }

  async drop(id: string): Promise<void> {
    await this.#database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      yield* tell([
        // Nothing was charged for a list that no server has begun to check.
        `UPDATE {list} SET state = 'gone'
        WHERE id = ? AND state = 'removed' AND once IS NOT NULL AND attempt > 0 AND created >= ?`,
        ...[id, now - answerMilliseconds],
      ]);
      yield* tell([
        "DELETE FROM {list} WHERE id = ? AND (state = 'removed' OR (state = 'gone' AND created < ?))",
        ...[id, now - answerMilliseconds],
      ]);
    });
  }
}

const onceHash = (keyId: string | null, once: string | undefined): Uint8Array | null =>
  once === undefined ? null : hashOf(`${keyId} ${once}`);

const toList = ({ choices, found, progress, result, ...row }: ListRow): StoredList => ({
  ...row,
  choices: JSON.parse(choices),
  found: parsed(found),
  progress: parsed(progress),
  result: parsed(result),
});

const parsed = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));
