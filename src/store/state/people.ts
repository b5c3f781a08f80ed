/**
 * The people who use the dashboard: their roles, links to sign in, and sessions. There are no passwords: whoever can use
 * the state makes links, or a proxy signs people in. Secrets are stored as hashes only.
 */
import { ask, type Clock, clock, insertion, type Statement, tell } from "../sql.js";
import type { ServiceDatabase } from "./database.js";
import { hashOf, newId, newToken } from "./secrets.js";

/** `viewer`: may look at everything and try items, but change nothing. */
export const roles = ["admin", "viewer"] as const;
export type Role = (typeof roles)[number];

export interface Person {
  readonly id: string;
  /** Equal to another one in another case. */
  readonly name: string;
  readonly role: Role;
  /** In milliseconds since the epoch, as are the other times. */
  readonly created: number;
}

export interface Session {
  readonly id: string;
  /** Undefined for a link that was made out to nobody; its session may do everything. */
  readonly person: Person | undefined;
  readonly created: number | null;
  /** Last use, to the minute. */
  readonly seen: number | null;
  readonly expires: number;
}

const signInMilliseconds = 600_000;
export const sessionMilliseconds = 43_200_000;
/** Time without a request after which a session ends, in milliseconds. */
const idleMilliseconds = 7_200_000;
const seenMilliseconds = 60_000;

/** There is no such person, or there is one already. */
export class PersonError extends Error {
  override readonly name = "PersonError";
}

/** All methods throw StoreError when the state cannot be used. */
export interface PeopleStore {
  /** @throws PersonError when there is a person of this name */
  add(name: string, role: Role): Promise<Person>;
  /** @throws PersonError when there is no such person */
  setRole(name: string, role: Role): Promise<Person>;
  /**
   * Removes a person, whose links and sessions end.
   *
   * @throws PersonError when there is no such person
   */
  remove(name: string): Promise<void>;
  find(name: string): Promise<Person | undefined>;
  list(): Promise<readonly Person[]>;
  /**
   * Creates a link to sign in. Returns its token, which can be used once, within {@link signInMilliseconds}.
   *
   * @param name person whom it is made out to
   * @throws PersonError when there is no such person
   */
  createSignIn(name?: string): Promise<string>;
  /**
   * Uses up a token. Returns the secret of a new session, valid for {@link sessionMilliseconds}; undefined for an
   * invalid token.
   */
  signIn(token: string): Promise<string | undefined>;
  /** Returns a session, which goes on by this; undefined if it has ended. */
  sessionOf(secret: string): Promise<Session | undefined>;
  /** Returns the sessions that have not ended, the newest first. */
  sessions(): Promise<readonly Session[]>;
  /** Ends a session by its id. Returns whether there was one. */
  endSession(id: string): Promise<boolean>;
  /** Ends a session by its secret. */
  signOut(secret: string): Promise<void>;
  /** Ends all sessions and tokens. */
  signOutAll(): Promise<void>;
}

interface SessionRow {
  readonly id: string;
  readonly person: string | null;
  readonly created: number | null;
  readonly seen: number | null;
  readonly expires: number;
}

const byName = "SELECT * FROM {person} WHERE lower(name) = lower(?)";
const sessionColumns = "id, person, created, seen, expires";

export class SqlPeople implements PeopleStore {
  readonly #database: ServiceDatabase;

  constructor(database: ServiceDatabase) {
    this.#database = database;
  }

  add(name: string, role: Role): Promise<Person> {
    return this.#database.write(function* () {
      const [[found], [{ now }]] = yield* ask<[Person[], [Clock]]>([byName, name], clock);
      if (found !== undefined) throw new PersonError(`there is a person "${found.name}" already`);
      const person = { id: newId(), name, role, created: now };
      yield* tell(insertion("{person} (id, name, role, created)", [[person.id, name, role, now]]));
      return person;
    });
  }

  setRole(name: string, role: Role): Promise<Person> {
    return this.#change(name, ({ id }) => [["UPDATE {person} SET role = ? WHERE id = ?", role, id]]);
  }

  async remove(name: string): Promise<void> {
    await this.#change(name, ({ id }) => [
      ["DELETE FROM {person} WHERE id = ?", id],
      ["DELETE FROM {session} WHERE person = ?", id],
      ["DELETE FROM {sign_in} WHERE person = ?", id],
    ]);
  }

  #change(name: string, statements: (person: Person) => readonly Statement[]): Promise<Person> {
    return this.#database.write(function* () {
      const [[found]] = yield* ask<[Person[]]>([`${byName} {lock}`, name]);
      if (found === undefined) throw unknownPerson(name);
      yield* tell(...statements(found));
      const [[after = found]] = yield* ask<[Person[]]>([byName, name]);
      return after;
    });
  }

  async find(name: string): Promise<Person | undefined> {
    const [[person]] = await this.#database.read(() => ask<[Person[]]>([byName, name]));
    return person;
  }

  async list(): Promise<readonly Person[]> {
    const [people] = await this.#database.read(() =>
      ask<[Person[]]>(["SELECT * FROM {person} ORDER BY lower(name)"]),
    );
    return people;
  }

  async createSignIn(name?: string): Promise<string> {
    const token = newToken();
    await this.#database.write(function* () {
      const [[person], [{ now }]] = yield* ask<[Person[], [Clock]]>([byName, name ?? ""], clock);
      if (name !== undefined && person === undefined) throw unknownPerson(name);
      yield* tell(
        ["DELETE FROM {sign_in} WHERE expires <= ?", now],
        ["DELETE FROM {session} WHERE expires <= ?", now],
        insertion("{sign_in} (hash, expires, person)", [
          [hashOf(token), now + signInMilliseconds, name === undefined ? null : person!.id],
        ]),
      );
    });
    return token;
  }

  signIn(token: string): Promise<string | undefined> {
    const secret = newToken();
    return this.#database.write(function* () {
      const [[{ now }]] = yield* ask<[[Clock]]>(clock);
      const [[spent]] = yield* ask<[{ person: string | null }[]]>([
        "DELETE FROM {sign_in} WHERE hash = ? AND expires > ? RETURNING person",
        ...[hashOf(token), now],
      ]);
      if (spent === undefined) return undefined;
      yield* tell(
        insertion("{session} (hash, id, expires, person, created, seen)", [
          [hashOf(secret), newId(), now + sessionMilliseconds, spent.person, now, now],
        ]),
      );
      return secret;
    });
  }

  async sessionOf(secret: string): Promise<Session | undefined> {
    const hash = hashOf(secret);
    const [rows, people, [{ now }]] = await this.#database.read(() =>
      ask<[SessionRow[], Person[], [Clock]]>(
        [`SELECT ${sessionColumns} FROM {session} WHERE hash = ?`, hash],
        ["SELECT * FROM {person} WHERE id = (SELECT person FROM {session} WHERE hash = ?)", hash],
        clock,
      ),
    );
    const [session] = openSessions(rows, people, now);
    if (session === undefined) return undefined;
    if (now - (session.seen ?? 0) > seenMilliseconds) {
      await this.#database.tryWrite(() => tell(["UPDATE {session} SET seen = ? WHERE hash = ?", now, hash]));
    }
    return session;
  }

  async sessions(): Promise<readonly Session[]> {
    const [rows, people, [{ now }]] = await this.#database.read(() =>
      ask<[SessionRow[], Person[], [Clock]]>(
        [`SELECT ${sessionColumns} FROM {session} ORDER BY created DESC, id`],
        ["SELECT * FROM {person}"],
        clock,
      ),
    );
    return openSessions(rows, people, now);
  }

  endSession(id: string): Promise<boolean> {
    return this.#database.write(function* () {
      const [rows] = yield* ask(["DELETE FROM {session} WHERE id = ? RETURNING id", id]);
      return rows!.length > 0;
    });
  }

  async signOut(secret: string): Promise<void> {
    await this.#database.write(() => tell(["DELETE FROM {session} WHERE hash = ?", hashOf(secret)]));
  }

  async signOutAll(): Promise<void> {
    await this.#database.write(() => tell(["DELETE FROM {sign_in}"], ["DELETE FROM {session}"]));
  }
}

/** Returns the sessions that have not ended, with their people. */
function openSessions(
  rows: readonly SessionRow[],
  people: readonly Person[],
  now: number,
): readonly Session[] {
  const byId = new Map(people.map((person) => [person.id, person]));
  return rows.flatMap(({ person, ...row }) => {
    const isIdle = row.seen !== null && now - row.seen > idleMilliseconds;
    const isOrphan = person !== null && !byId.has(person);
    if (row.expires <= now || isIdle || isOrphan) return [];
    return [{ ...row, person: person === null ? undefined : byId.get(person) }];
  });
}

const unknownPerson = (name: string): PersonError =>
  new PersonError(`there is no person "${name}"; run idv people list to see all`);
