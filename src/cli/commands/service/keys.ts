/** `idv keys`: the API keys of `idv serve`. */
import { periods } from "../../../state/quota/period.js";
import type { ApiKey, KeyChange } from "../../../state/service/api-key.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { grouped, printable } from "../../../text.js";
import { day, minuteText } from "../../../time.js";
import { stateEnvironment, stateOptions, withServiceState } from "../../config/service-state.js";
import { UsageError } from "../../errors.js";
import { csvOption, jsonLinesOption, type OptionValues, optionRecords } from "../../options/option.js";
import {
  expiryDate,
  filled,
  permissionList,
  personName,
  requestRate,
  showRate,
  timeOr,
  unitLimit,
} from "../../options/values.js";
import { printListing } from "../../terminal/listing.js";
import { print } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { commandLineAuthor, sayUsed } from "../changes.js";
import { commandsOf, type DefineCommand, describe } from "../command.js";

const settingOptions = optionRecords({
  ...stateOptions,
  name: { flags: "--name <NAME>", help: "what the key is for", parse: personName },
  limit: { flags: "--limit <N|none>", help: "validations a period", parse: unitLimit },
  period: { flags: "--period <PERIOD>", help: "none, hour, day or month of the UTC calendar", choices: periods },
  rate: { flags: "--rate <N/s|N/m|N/h|none>", help: "most requests in that time", parse: requestRate },
  expires: { flags: "--expires <DATE>", help: "when the key ends: 2027-01-31, or never", parse: expiryDate },
  permissions: {
    flags: "--permissions <LIST>",
    help: "what it may validate: emails,domains",
    parse: permissionList,
    words: ["emails", "domains"],
    isJoined: true,
  },
});

const createOptions = optionRecords({
  ...settingOptions,
  quota: { flags: "--quota <NAME>", help: "share the quota of that name; created if there is none", parse: filled },
  sandbox: { flags: "--sandbox", help: "charge nothing; give fixed statuses to test domains" },
});

const listOptions = optionRecords({
  ...stateOptions,
  ...jsonLinesOption,
  ...csvOption,
  long: { flags: "--long", help: "all columns on a terminal, too" },
});

const revokeOptions = optionRecords({
  ...stateOptions,
  secret: { flags: "--secret <END>", help: "end only the secret that ends with these four characters", parse: filled },
});

const rotateOptions = optionRecords({
  ...stateOptions,
  grace: { flags: "--grace <TIME>", help: "time for which the old secret still works", ...timeOr("0s", 0, 30 * day) },
});

export const define: DefineCommand = (keys) => {
  describe(keys, {
    description: "Creates and manages the API keys of idv serve.",
    examples: ["keys create --name shop --limit 10000 --period month", "keys list"],
    environment: stateEnvironment,
  });
  const define = commandsOf(keys);
  define(
    "create",
    { options: createOptions },
    "Create a key and print it, once.",
    ...["keys create --name shop --limit 10000 --period month"],
    ...["keys create --name tests --sandbox --permissions emails"],
  ).action(createKey);
  define("list", { options: listOptions }, "List the keys.", "keys list", "keys list --csv").action(listKeys);
  define(
    "set <ID>",
    { options: settingOptions },
    "Change a key. Units used stay used.",
    "keys set 04sX1bQ2z --limit none --expires never",
  ).action(setKey);
  define(
    "revoke <ID>",
    { options: revokeOptions },
    "End a key, or one of its older secrets, for good.",
    ...["keys revoke 04sX1bQ2z", "keys revoke 04sX1bQ2z --secret a8Tq"],
  ).action(revokeKey);
  define(
    "rotate <ID>",
    { options: rotateOptions },
    "Give a key a new secret and print it, once.",
    ...["keys rotate 04sX1bQ2z", "keys rotate 04sX1bQ2z --grace 24h"],
  ).action(rotateKey);
};

/** The secret alone goes to standard output, so that it can be piped into a vault. */
async function createKey(options: OptionValues<typeof createOptions>): Promise<void> {
  if (options.name === undefined) throw new UsageError("keys create needs --name NAME");
  const quota = options.quota === undefined ? {} : { quotaName: options.quota };
  const wanted = { ...changeOf(options), isSandbox: options.sandbox === true, ...quota };
  const create = (store: ServiceStore) => store.create(wanted, commandLineAuthor());
  const { key, secret } = await withServiceState(options, create, true);
  print(`${secret}\n`);
  say(`created key ${key.id}; its secret is shown only now`);
  if (key.quotaName !== null)
    say(
      `its quota is "${printable(key.quotaName)}": ${key.quota.limit === null ? "no limit; --limit N sets one" : `limit ${grouped(key.quota.limit)}`}`,
    );
  if (key.isSandbox) say("it is a sandbox key: its answers are made up, and nothing is charged");
}

async function listKeys(options: OptionValues<typeof listOptions>): Promise<void> {
  const keys = await withServiceState(options, (store) => store.list());
  if (options.json) print(keys.map((key) => `${JSON.stringify(fieldsOf(key))}\n`).join(""));
  else {
    const { csv } = options;
    const columns = options.long || csv || !process.stdout.isTTY ? columnsOf : shortColumnsOf;
    await printListing({
      header: Object.keys(keys[0] ? columns(keys[0]) : {}),
      rows: keys.map((key) => Object.values(columns(key)).map((value) => String(value ?? (csv ? "" : "-")))),
      isCsv: csv,
      none: "there are no keys yet: idv keys create --name NAME",
    });
  }
}

async function setKey(id: string, options: OptionValues<typeof settingOptions>): Promise<void> {
  const change = changeOf(options);
  if (Object.keys(change).length === 0) {
    throw new UsageError("keys set needs --name, --limit, --period, --rate, --expires or --permissions");
  }
  const { revoked, quota } = await withServiceState(options, (store) => store.set(id, change, commandLineAuthor()));
  say(`changed key ${id}${revoked === null ? "" : "; it is still revoked"}`);
  if (change.limit !== undefined) sayUsed(quota);
}

async function revokeKey(id: string, options: OptionValues<typeof revokeOptions>): Promise<void> {
  const { secret } = options;
  await withServiceState(options, async (store) => {
    const key = (await store.list()).find((each) => each.id === id);
    if (secret === undefined) {
      await store.revoke(id, commandLineAuthor());
      const before = dateOf(key?.revoked ?? null);
      return say(before === null ? `revoked key ${id}` : `key ${id} was revoked at ${before}`);
    }
    const found = (key?.secrets ?? []).filter((each) => each.id === secret || each.hint.endsWith(secret));
    if (found.length > 1) {
      throw new UsageError(`key ${id} has ${found.length} such secrets; give an id from idv keys list --json`);
    }
    await store.endSecret(id, found[0]?.id ?? secret, commandLineAuthor());
    say(`ended that secret of key ${id}; its other secrets still work`);
  });
}

async function rotateKey(id: string, options: OptionValues<typeof rotateOptions>): Promise<void> {
  const { grace } = options;
  const { secret, key } = await withServiceState(options, (store) =>
    store.rotate(id, grace, undefined, commandLineAuthor()),
  );
  print(`${secret}\n`);
  const end = grace === 0 ? "no longer works" : `works until ${new Date(Date.now() + grace).toISOString()}`;
  say(`key ${id} has a new secret, shown only now; the one before ${end}`);
  const older = key.secrets.length - (grace === 0 ? 1 : 2);
  if (older === 1) say("an older secret still works; idv keys list shows until when");
  if (older > 1) say(`${older} older secrets still work; idv keys list shows until when`);
}

function changeOf({ name, limit, period, rate, expires, permissions }: OptionValues<typeof settingOptions>): KeyChange {
  return {
    ...(name !== undefined && { name }),
    ...(limit !== undefined && { limit: limit === "none" ? null : limit }),
    ...(period !== undefined && { period }),
    ...(rate !== undefined && { rate: rate === "none" ? null : rate }),
    ...(expires !== undefined && { expires: expires === "never" ? null : expires }),
    ...(permissions !== undefined && { permissions }),
  };
}

const dateOf = (time: number | null) => (time === null ? null : new Date(time).toISOString());

function fieldsOf({ id, name, permissions, isSandbox, created, expires, revoked, quota, ...key }: ApiKey) {
  const { limit, period, used, left } = quota;
  const kind = isSandbox ? "sandbox" : "live";
  const state = revoked !== null ? "revoked" : expires !== null && expires <= Date.now() ? "expired" : "active";
  const ofQuota = { limit, period, used, left, renews: dateOf(quota.renewsAt) };
  const dates = { created: dateOf(created), expires: dateOf(expires), revoked: dateOf(revoked) };
  const secrets = key.secrets.map(({ id, hint, created, ends }) => {
    return { id, hint: hint || null, created: dateOf(created), ends: dateOf(ends) };
  });
  const rate = key.rate && showRate(key.rate);
  const facts = { id, name, kind, state, permissions: permissions.join(","), ...ofQuota, ...dates };
  return { ...facts, secrets, lastUsed: dateOf(key.lastUsed), quota: key.quotaName, rate };
}

/** Columns that fit a terminal of 100 columns. */
function shortColumnsOf(key: ApiKey) {
  const { id, name, state, limit, used, renews, lastUsed } = fieldsOf(key);
  const minute = (date: string | null) => date && minuteText(date);
  return { id, name: name.slice(0, 24), state, used, limit, renews: minute(renews), lastUsed: minute(lastUsed) };
}

function columnsOf(key: ApiKey) {
  const fields = fieldsOf(key);
  const secrets = fields.secrets.map(({ id, hint, ends }) => `${hint ?? id}${ends === null ? "" : ` until ${ends}`}`);
  return { ...fields, secrets: secrets.join(", ") || null };
}
