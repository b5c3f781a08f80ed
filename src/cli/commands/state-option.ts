/** The option that names the state of `idv serve`. */
import { Option } from "commander";
import { filled } from "../config/option-values.js";

export const stateOption = () =>
  new Option("--state <FILE|URL>", "keys and quotas: a file, or postgres://host/database").argParser(filled);
