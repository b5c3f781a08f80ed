/** Names of the help topics, apart from their texts: every start of the program needs them. */

/** The topics; each is a file `topics/NAME.md`. */
export const topicNames: readonly string[] = [
  "tables",
  "settings",
  "statuses",
  "service",
  "exit-codes",
  "environment",
];
