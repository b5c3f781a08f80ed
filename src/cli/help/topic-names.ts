/** Names of the files in `topics/`, apart from topics.ts because every start of the program needs them. */
export const topicNames: readonly string[] = [
  ...["recipes", "tables", "settings", "statuses"],
  ...["service", "machines", "exit-codes", "environment"],
];
