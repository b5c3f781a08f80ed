/** Options about the service of a run, and for settings. */
import type { SettingName, SettingOptions } from "../config/settings.js";
import { parserOf, setSetting, settingNames, settingOf } from "../config/settings.js";
import { optionRecords } from "./option.js";

/** The default is in the text only: as a value, it would override the variable and the files. */
function settingOption<const Name extends SettingName & keyof SettingOptions>(name: Name) {
  const { flags, help, fallback } = settingOf(name);
  return {
    flags: flags! as "--setting <VALUE>",
    help: fallback === undefined ? help : `${help} (default: ${fallback})`,
    parse: parserOf(name),
    ...(settingOf(name).belongsTo === "api" && { belongsTo: "api" as const }),
  };
}

export const setOptions = optionRecords({
  set: {
    flags: "--set <NAME=VALUE>",
    help: "override a setting, as timeout=1m; see idv help settings",
    parse: setSetting,
    words: settingNames.map((name) => `${name}=`),
    isList: true,
  },
});

export const baseUrlOptions = optionRecords({ baseUrl: settingOption("baseUrl") });

export const listUrlOptions = optionRecords({ listUrl: settingOption("listUrl") });

export const dnsOptions = optionRecords({
  dns: { ...settingOption("dns"), implied: "on", words: ["on", "off", "strict", "strict:5%"] },
});

export const serviceOptions = optionRecords({
  ...baseUrlOptions,
  cache: {
    flags: "--cache <USE>",
    help: "cached verdicts: use, refresh (ask again, and update the cache) or off (default: use)",
    choices: ["use", "refresh", "off"],
  },
  ...dnsOptions,
  ...setOptions,
});
