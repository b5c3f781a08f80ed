/**
 * Names of the help topics, apart from topics.ts because every start of the program needs them. Each topic is a file
 * `topics/NAME.md`.
 */
export const topicNames: readonly string[] = [
  "recipes",
  "tables",
  "settings",
  "statuses",
  "service",
  "machines",
  "exit-codes",
  "environment",
];
