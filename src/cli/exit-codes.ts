/** The exit codes and their meanings. Scripts rely on them: they never change. */
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

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export function codeOf(exitCode: number): string {
  const [name = "interrupted"] = Object.entries(exitCodes).find(([, code]) => code === exitCode) ?? [];
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "--fail-on matched",
  2: "wrong usage or configuration",
  3: "not authorised: no key, or the service does not accept it",
  4: "quota exhausted: the output is complete, some rows are quota_exceeded; takes precedence over 1",
  5: "a service that is needed could not be reached or gave an invalid answer: the API, a list on the web, the npm registry, or DNS with --dns=strict",
  6: "input, output, or a file or database of idv could not be read or written",
  70: "a bug in idv, or a part of it is missing",
};
