/** What the exit codes mean, for people; every command's help ends with them. */
export const exitCodes = {
  done: 0,
  failOn: 1,
  usage: 2,
  notAuthorised: 3,
  quotaExhausted: 4,
  service: 5,
  inputOutput: 6,
  bug: 70,
} as const;

export const exitCodeHelp = `
Exit codes:
  0    every row has a verdict (also when the reader of a pipe stops early)
  1    --fail-on matched
  2    wrong usage or configuration
  3    not authorised: no key, or one that the service does not accept
  4    quota exhausted: the output is complete, some rows are quota_exceeded
  5    the service (data update: the npm registry) could not be reached or answered nonsense
  6    input, output or a file of idv's own could not be read or written
  70   a bug in idv
  130  interrupted (SIGINT); 143 terminated (SIGTERM); 129 hung up (SIGHUP)`;
