/** Links to sign in, and sessions. No passwords: those who can use the state make links. Secrets are hashed. */
import { ask, type Clock, clock, insertion, tell } from "../sql.js";
import type { ServiceDatabase } from "./database/database.js";
import { hashOf, newId, newToken } from "./secrets.js";

export interface Session {
  readonly id: string;
  readonly name: string | null;
  readonly created: number;
  readonly seen: number;
  readonly expires: number;
}

const signInMilliseconds = 600_000;
export const sessionMilliseconds = 43_200_000;
const idleMilliseconds = 7_200_000;
const seenMilliseconds = 60_000;

const columns = "id, name, created, seen, expires";

/** All methods throw StoreError when the state cannot be used. */
export class SqlSessions {
  constructor(private readonly database: ServiceDatabase) {}

  /** Returns a token, which can be used once, within {@link signInMilliseconds}. */
  async createSignIn(name?: string): Promise<string> {
    const token = newToken();
    await this.database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      yield* tell(
        ["DELETE FROM {sign_in} WHERE expires <= ?", now],
        ["DELETE FROM {session} WHERE expires <= ?", now],
        insertion("{sign_in} (hash, expires, name)", [[hashOf(token), now + signInMilliseconds, name ?? null]]),
      );
    });
    return token;
  }

  /** Uses up a token. Returns the secret of a new session; undefined for an invalid token. */
  signIn(token: string): Promise<string | undefined> {
    const secret = newToken();
    return this.database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [[spent]] = yield* ask<[{ name: string | null }[]]>([
        "DELETE FROM {sign_in} WHERE hash = ? AND expires > ? RETURNING name",
        ...[hashOf(token), now],
      ]);
      if (spent === undefined) return undefined;
      const row = [hashOf(secret), newId(), now + sessionMilliseconds, spent.name, now, now];
      yield* tell(insertion("{session} (hash, id, expires, name, created, seen)", [row]));
      return secret;
    });
  }

  /** Prolongs the session; undefined if it has ended. */
  async find(secret: string): Promise<Session | undefined> {
    const hash = hashOf(secret);
    const [rows, [{ now }]] = await this.database.read(() =>
      ask<[Session[], [Clock]]>([`SELECT ${columns} FROM {session} WHERE hash = ?`, hash], clock),
    );
    const [session] = open(rows, now);
    if (session === undefined) return undefined;
    if (now - session.seen > seenMilliseconds) {
      await this.database.tryWrite(() => tell(["UPDATE {session} SET seen = ? WHERE hash = ?", now, hash]));
    }
    return session;
  }

  async list(): Promise<readonly Session[]> {
    const [rows, [{ now }]] = await this.database.read(() =>
      ask<[Session[], [Clock]]>([`SELECT ${columns} FROM {session} ORDER BY created DESC, id`], clock),
    );
    return open(rows, now);
  }

  end(id: string): Promise<boolean> {
    return this.database.write(function* () {
      const [rows] = yield* ask(["DELETE FROM {session} WHERE id = ? RETURNING id", id]);
      return rows!.length > 0;
    });
  }

  async signOut(secret: string): Promise<void> {
    await this.database.write(() => tell(["DELETE FROM {session} WHERE hash = ?", hashOf(secret)]));
  }

  /** Ends all sessions and tokens. */
  async signOutAll(): Promise<void> {
    await this.database.write(() => tell(["DELETE FROM {sign_in}"], ["DELETE FROM {session}"]));
  }
}

const open = (sessions: readonly Session[], now: number): readonly Session[] =>
  sessions.filter(({ expires, seen }) => expires > now && now - seen <= idleMilliseconds);
