/** All options of `idv emails` and `idv domains`, by their headings in the help, common ones first. */
import type { Kind } from "../../core/validator/validator.js";
import { inputOptions } from "./input.js";
import { logOptions } from "./log.js";
import type { OptionRecords, OptionValues } from "./option.js";
import { outputOptions } from "./output.js";
import { spendingOptions } from "./quota.js";
import { rowOptions } from "./rows.js";
import { serviceOptions } from "./service.js";
import { verdictOptions } from "./verdicts.js";

export const bulkOptions = (kind: Kind) =>
  ({
    Input: inputOptions,
    Rows: rowOptions(kind),
    Output: outputOptions,
    Verdicts: verdictOptions(kind),
    Quota: spendingOptions,
    Service: serviceOptions,
    Log: logOptions,
  }) satisfies Readonly<Record<string, OptionRecords>>;

type Groups = ReturnType<typeof bulkOptions>;

export type BulkOptions = OptionValues<
  Groups["Input"] &
    Groups["Rows"] &
    Groups["Output"] &
    Groups["Verdicts"] &
    Groups["Quota"] &
    Groups["Service"] &
    Groups["Log"]
>;
