/** `idv audit`: the changes of keys, sessions and lists, and who has made them. */
import { openServiceState } from "../../config/service-state.js";
import { type OptionValues, optionRecords } from "../../options/option.js";
import { stateOptions } from "../../options/state.js";
import { day, duration } from "../../options/values.js";
import { printListing } from "../../terminal/listing.js";
import { print } from "../../terminal/standard-output.js";
import { type DefineCommand, describe } from "../command.js";

const options = optionRecords({
  ...stateOptions,
  since: {
    flags: "--since <TIME>",
    help: "how far back",
    parse: duration(0, 36_600 * day),
    fallback: 30 * day,
    fallbackText: "30d",
  },
  json: { flags: "--json", help: "print one JSON object a line" },
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description: "Prints the changes of keys, sessions and lists, the newest first, and who has made them.",
    examples: ["audit", "audit --since 400d --json"],
    options,
    environment: ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME"],
  }).action(showAudit);
};

async function showAudit({ state, since, json }: OptionValues<typeof options>): Promise<void> {
  const store = await openServiceState(state, process.env);
  try {
    const entries = (await store.audit(Number.MAX_SAFE_INTEGER, store.now() - since)).map(
      ({ at, who, what, keyId }) => ({ time: new Date(at).toISOString(), who, what, key: keyId }),
    );
    if (json) return print(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    await printListing({
      header: ["time", "who", "what", "key"],
      rows: entries.map(({ time, who, what, key }) => [time, who, what, key || "-"]),
    });
  } finally {
    await store.close();
  }
}
