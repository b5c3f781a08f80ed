/** What users of other programs write, and what it is here. */

const key = "others can read a key on a command line; put it into IDV_API_KEY, or run idv login";
const addresses = "idv asks no mailbox; --dns asks for the mail servers of domains";

const options: Readonly<Record<string, string>> = {
  "api-key": key,
  k: key,
  key,
  token: key,
  "api-key-file": "write --set apiKeyFile=FILE",
  url: "write --base-url URL",
  endpoint: "write --base-url URL",
  workers: "write --set concurrency=N",
  threads: "write --set concurrency=N",
  jobs: "write --set concurrency=N",
  j: "write --set concurrency=N",
  concurrency: "write --set concurrency=N",
  rate: "write --set rate=50/s",
  retries: "write --set maxRetries=N",
  timeout: "write --set timeout=30s",
  "batch-size": "write --set batchSize=N",
  mx: "write --dns",
  smtp: addresses,
  "verify-smtp": addresses,
  limit: "for a limit of units, run idv quota set --limit N",
  overwrite: "write -I",
  yes: "nothing is asked; -I replaces the file",
  "no-progress": "write -q",
  silent: "write -q",
  verbose: "--explain adds reasons, --log debug shows requests",
  v: "--explain adds reasons, --log debug shows requests",
  f: "FILE needs no option; the format of the output is --format FORMAT",
  file: "FILE needs no option",
  input: "FILE needs no option",
  i: "FILE needs no option; -I replaces it",
  status: "write --only STATUS",
  filter: "write --only STATUS",
  "group-by": "write --by COLUMN",
  "output-format": "write --format FORMAT",
  stdin: "standard input needs no option: idv emails < list.csv",
  csv: "write --format csv",
  "check-mx": "write --dns",
  unique: "write --dedupe",
  "remove-duplicates": "write --dedupe",
  outfile: "write -o FILE",
  field: "write -c COLUMN",
  tab: "write -d tab",
  typo: "write --explain for suggestions, --fix for repaired rows",
  suggest: "write --explain for suggestions, --fix for repaired rows",
  reason: "write --explain",
  backup: "write -I.bak",
  "allow-list": "write --allow FILE",
  whitelist: "write --allow FILE",
  "deny-list": "write --deny FILE",
  blacklist: "write --deny FILE",
  online: "a service is asked where there is a key: idv login; without --offline",
  resume: "run the same command again: what is paid is not paid twice",
  remove: "write --drop STATUS",
  exclude: "write --drop STATUS",
  include: "write --only STATUS",
  keep: "write --only STATUS",
  separator: "write -d CHAR",
  sep: "write -d CHAR",
  header: "-n reads a table without one, --set header=never writes none",
  "all-columns": 'write -c "*"',
  "all-sheets": 'write --sheet "*"',
  canonical: "write --add canonical",
  flags: "write --add flags",
  debug: "write --log debug",
  json: "write --format jsonl for rows, --log json for the summary",
};

/** Options of tables, at the command for a few values. */
const optionsOfCheck: Readonly<Record<string, string>> = {
  explain: "the reason and the suggestion are always printed; --why prints more",
  format: "write --json",
  output: "write > FILE",
  o: "write > FILE",
};

export const insteadOf = (flag: string, known = options): string | undefined => {
  const name = flag.replace(/^-+/, "").toLowerCase();
  return Object.hasOwn(known, name) ? known[name] : undefined;
};

export const insteadAtCheck = (flag: string): string | undefined => insteadOf(flag, optionsOfCheck);

const statuses: Readonly<Record<string, string>> = {
  valid: "ok",
  good: "ok",
  deliverable: "ok",
  invalid: "fake",
  bad: "fake",
  undeliverable: "fake",
  typo: "fake",
  temporary: "disposable",
  temp: "disposable",
  throwaway: "disposable",
  blank: "empty",
};

export const statusCalled = (word: string): string | undefined =>
  Object.hasOwn(statuses, word) ? statuses[word] : undefined;

const commands: Readonly<Record<string, string>> = {
  validate: "to check a list: idv emails list.csv, and an address: idv check ADDRESS",
  verify: "to check a list: idv emails list.csv, and an address: idv check ADDRESS",
  clean: "to check a list: idv emails list.csv",
  run: "to check a list: idv emails list.csv",
  undo: "with -I.bak, the old file is list.csv.bak",
  compare: "a report tells what changed since the one it replaces: idv emails list.csv --report FILE.html",
  report: "write idv emails list.csv --report FILE.html",
  config: "idv doctor shows settings; idv help settings",
  update: "write idv data update, or idv emails --update for new rows",
  whitelist: "write idv allow add DOMAIN",
  blacklist: "write idv deny add DOMAIN",
  fix: "write idv emails list.csv --fix -o fixed.csv",
  dedupe: "write idv emails list.csv --dedupe -o unique.csv",
  dns: "write idv emails list.csv --dns",
  start: "to run the service: idv serve",
  stats: "write idv usage, or idv cache stats",
  mail: "to check a list: idv emails list.csv, and an address: idv check ADDRESS",
  version: "write idv --version",
  "-v": "write idv --version",
};

/** What a group of commands may call one of its own. */
const verbs: readonly (readonly string[])[] = [
  ["create", "new", "add", "make", "generate", "issue"],
  ["remove", "revoke", "delete", "del", "rm", "drop", "disable"],
  ["show", "list", "stats", "ls", "get", "status", "info", "view", "print", "dump"],
  ["set", "change", "edit", "configure", "update"],
  ["update", "refresh", "sync", "download", "upgrade", "fetch", "pull"],
  ["prune", "clear", "clean", "purge", "empty", "flush", "delete", "remove", "rm"],
  ["export", "backup", "save", "dump"],
  ["import", "load", "restore"],
  ["rotate", "renew", "roll", "regenerate"],
  ["reset", "zero"],
];

export const verbCalled = (word: string, known: readonly string[]): string | undefined =>
  verbs.filter((each) => each.includes(word)).flatMap((each) => known.filter((name) => each.includes(name)))[0];

const optionOfWord: Readonly<Record<string, string>> = {
  "keys create": "--name NAME",
  "quota set": "--limit N",
  "state export": "-o FILE",
  usage: "--key ID",
  audit: "--key ID",
  serve: "--port N",
  page: "-o FILE",
};

/** The option whose value a word would be, that `command` does not take alone. */
export const optionFor = (command: string): string | undefined =>
  Object.hasOwn(optionOfWord, command) ? optionOfWord[command] : undefined;

export const insteadOfCommand = (word: string): string | undefined =>
  Object.hasOwn(commands, word) ? commands[word] : undefined;
