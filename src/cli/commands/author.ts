/** Author of changes that are made on the command line, for the audit. */
import { userInfo } from "node:os";

export function commandLineAuthor(): string {
  try {
    return `command line (${userInfo().username})`;
  } catch {
    // In a container, the user may have a number alone.
    return "command line";
  }
}
