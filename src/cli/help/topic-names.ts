/** Names of the help topics, kept apart from their texts because every start of the program needs them. */

/** The topics; each is a file `topics/NAME.md`. */
export const topicNames: readonly string[] = [
  "tables",
  "settings",
  "statuses",
  "service",
  "machines",
  "exit-codes",
  "environment",
];
