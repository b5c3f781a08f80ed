/** The option that names the state of `idv serve`. */
import { Option } from "commander";
import { filled } from "../config/option-values.js";

export const stateOption = () =>
  new Option("--state <FILE>", "keys and quotas of the service").argParser(filled);
