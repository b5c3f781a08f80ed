/** `idv domains`: the bulk command for domains. */
import { bulkCommand } from "./bulk-command.js";

export const define = bulkCommand("domain", [
  "domains domains.txt -o checked.csv",
  "domains customers.csv -c website -o checked.csv",
]);
