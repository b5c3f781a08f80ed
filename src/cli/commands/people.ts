/** `idv people`: the people who use the dashboard of `idv serve`, their roles and sessions. */
import { PersonError, type Role, roles } from "../../store/state/people.js";
import type { ServiceStore } from "../../store/state/service-store.js";
import { openServiceState } from "../engines/service-state.js";
import { UsageError } from "../errors.js";
import { type OptionRecords, type OptionValues, optionRecords } from "../options/option.js";
import { stateOptions } from "../options/state.js";
import { printListing } from "../terminal/listing.js";
import { print } from "../terminal/standard-output.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const role = {
  flags: "--role <ROLE>",
  help: "admin, or viewer, who may look but change nothing",
  choices: roles,
};

const addOptions = optionRecords({ ...stateOptions, role: { ...role, fallback: "admin" } });
const setOptions = optionRecords({ ...stateOptions, role });
const listOptions = optionRecords({
  ...stateOptions,
  json: { flags: "--json", help: "print one JSON object a line" },
});

const environment = ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME"] as const;
/** Author of these changes in the audit. */
const who = "command line";

export const define: DefineCommand = (people) => {
  describe(people, {
    description:
      "Manages the people who use the dashboard of idv serve: changes are recorded with their names.\nThey sign in with a link (idv dashboard --person NAME), or at a proxy (idv serve --trust-header).",
    examples: ["people add anna --role viewer", "people list"],
    environment,
    topics: ["service"],
  });
  const define = (usage: string, options: OptionRecords, description: string, example: string) =>
    describe(people.command(usage).summary(description), {
      description,
      examples: [example],
      options,
      environment,
    });
  define("add <NAME>", addOptions, "Add a person.", "people add anna@example.com --role viewer").action(
    addPerson,
  );
  define("set <NAME>", setOptions, "Change the role of a person.", "people set anna --role admin").action(
    setPerson,
  );
  define(
    "remove <NAME>",
    stateOptions,
    "Remove a person, and end their sessions.",
    "people remove anna",
  ).action(removePerson);
  define("list", listOptions, "List the people.", "people list --json").action(listPeople);
  define("sessions", listOptions, "List the sessions.", "people sessions").action(listSessions);
  define("end <SESSION>", stateOptions, "End one session.", "people end 04sX1bQ2z").action(endSession);
};

async function addPerson(name: string, options: OptionValues<typeof addOptions>): Promise<void> {
  if (name.length > 100 || /\p{C}/u.test(name) || name.trim() !== name || name === "") {
    throw new UsageError(
      "NAME must have 1 to 100 characters, without control characters or blanks around it",
    );
  }
  const add = ({ people }: ServiceStore) => people.add(name, options.role as Role);
  await change(options, `person added: ${name}`, add, { creates: true });
  say(`added ${name}; a link to sign in: idv dashboard --person ${name}`);
}

async function setPerson(name: string, options: OptionValues<typeof setOptions>): Promise<void> {
  const { role } = options;
  if (role === undefined) throw new UsageError("people set needs --role ROLE");
  await change(options, `role changed: ${name}`, ({ people }) => people.setRole(name, role as Role));
  say(`${name} is ${role} now`);
}

async function removePerson(name: string, options: OptionValues<typeof stateOptions>): Promise<void> {
  await change(options, `person removed: ${name}`, ({ people }) => people.remove(name));
  say(`removed ${name}`);
}

async function endSession(id: string, options: OptionValues<typeof stateOptions>): Promise<void> {
  await change(options, `session ended: ${id}`, async ({ people }) => {
    if (!(await people.endSession(id))) {
      throw new UsageError(`there is no session "${id}"; run idv people sessions to see all`);
    }
  });
  say("ended that session");
}

async function listPeople(options: OptionValues<typeof listOptions>): Promise<void> {
  const people = await withStore(options, (store) => store.people.list());
  await printRows(
    options.json,
    people.map(({ id, name, role, created }) => ({ id, name, role, added: date(created) })),
  );
}

async function listSessions(options: OptionValues<typeof listOptions>): Promise<void> {
  const sessions = await withStore(options, (store) => store.people.sessions());
  await printRows(
    options.json,
    sessions.map(({ id, person, created, seen, expires }) => ({
      id,
      person: person?.name ?? null,
      began: date(created),
      seen: date(seen),
      ends: date(expires),
    })),
  );
}

const date = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

async function printRows(
  isJson: boolean | undefined,
  rows: readonly Readonly<Record<string, string | null>>[],
): Promise<void> {
  if (isJson) return print(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await printListing({
    header: Object.keys(rows[0] ?? {}),
    rows: rows.map((row) => Object.values(row).map((value) => value ?? "-")),
  });
}

async function change(
  options: OptionValues<typeof stateOptions>,
  what: string,
  work: (store: ServiceStore) => Promise<unknown>,
  opening?: { readonly creates: boolean },
): Promise<void> {
  const changeStore = async (store: ServiceStore) => {
    await work(store);
    await store.record({ who, what, keyId: "" });
  };
  await withStore(options, changeStore, opening);
}

async function withStore<Result>(
  options: OptionValues<typeof stateOptions>,
  work: (store: ServiceStore) => Promise<Result>,
  { creates = false } = {},
): Promise<Result> {
  const store = await openServiceState(options.state, process.env, { creates });
  try {
    return await work(store);
  } catch (error) {
    throw error instanceof PersonError ? new UsageError(error.message) : error;
  } finally {
    await store.close();
  }
}
