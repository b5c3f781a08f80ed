/** The option that names the state of `idv serve`. */
import { optionRecords } from "./option.js";
import { filled } from "./values.js";

export const stateOptions = optionRecords({
  state: { flags: "--state <FILE|URL>", help: "keys and quotas: a file, or postgres://host/database", parse: filled },
});

export const stateEnvironment = ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME"] as const;
