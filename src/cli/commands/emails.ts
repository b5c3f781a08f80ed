/** `idv emails`: the bulk command for e-mail addresses. */
import { bulkCommand } from "./bulk-command.js";

export const define = bulkCommand("email", [
  "emails list.csv -o checked.csv",
  "emails list.csv --drop disposable,fake --dedupe -o clean.csv",
  "emails -I.bak list.csv --explain",
  "emails -c email < list.csv | head",
  "emails signups.tsv --fail-on disposable,fake -q > /dev/null",
]);
