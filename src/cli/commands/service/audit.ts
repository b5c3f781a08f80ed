/** `idv audit`: the changes of keys, sessions and lists, and who has made them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEntry } from "../../../state/service/api-key.js";
import { unknownKey } from "../../../state/service/rules.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { day } from "../../../time.js";
import { stateEnvironment, stateOptions, withServiceState } from "../../config/service-state.js";
import { csvOption, jsonLinesOption, type OptionValues, optionRecords } from "../../options/option.js";
import { timeOr } from "../../options/values.js";
import { printListing } from "../../terminal/listing.js";
import { allPrinted, print } from "../../terminal/standard-output.js";
import { type DefineCommand, describe } from "../command.js";

const options = optionRecords({
  ...stateOptions,
  since: { flags: "--since <TIME>", help: "how far back", ...timeOr("30d", 0, 36_600 * day) },
  by: { flags: "--by <NAME>", help: "changes by whom, such as anna" },
  key: { flags: "--key <ID>", help: "changes of a key alone" },
  follow: { flags: "-f, --follow", help: "print changes as they are made, the oldest first" },
  ...jsonLinesOption,
  ...csvOption,
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints the changes of keys, sessions and lists, the newest first, and who has made them. Filters combine: only entries that match all of them are shown.",
    examples: ["audit", "audit --since 400d --json", "audit --by anna --follow"],
    options,
    environment: stateEnvironment,
  }).action(showAudit);
};

type Choices = OptionValues<typeof options>;

const pause = 1000;

const showAudit = ({ json, csv, ...choices }: Choices): Promise<void> =>
  withServiceState(choices, async (store) => {
    const { key } = choices;
    const isKnown = key === undefined || (await store.list()).some(({ id }) => id === key);
    if (!isKnown) throw unknownKey(key);
    const pages = entriesOf(store, choices);
    if (!json) {
      const rows = (async function* () {
        for await (const page of pages)
          yield page.map(({ time, who, what, key }) => [time, who, what, key || (csv ? "" : "-")]);
      })();
      return await printListing({
        header: ["time", "who", "what", "key"],
        rows,
        isCsv: csv,
        none: "nobody has changed anything",
      });
    }
    for await (const page of pages) {
      await print(page.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
      await allPrinted();
    }
  });

async function* entriesOf(store: ServiceStore, { since, by, key, follow }: Omit<Choices, "json" | "csv">) {
  const isWanted = ({ who, keyId }: AuditEntry) => (by ?? who) === who && (key ?? keyId) === keyId;
  let from = store.now() - since;
  for (let known = 0; ; await sleep(pause)) {
    const found = await store.audit(Number.MAX_SAFE_INTEGER, from);
    const fresh = found.slice(0, found.length - known);
    if (fresh.length > 0 || !follow) {
      const shown = fresh.filter(isWanted).map(({ at, who, what, keyId }) => {
        return { time: new Date(at).toISOString(), who, what, key: keyId };
      });
      yield follow ? shown.toReversed() : shown;
    }
    if (!follow) return;
    from = found[0]?.at ?? from;
    known = found.filter(({ at }) => at === from).length;
  }
}
