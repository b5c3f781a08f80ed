/** What users of other programs write, and what it is here. */

/** Takes what it is here, with the words for it, separated by blanks. */
const wordsFor = (meanings: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(meanings).flatMap(([meaning, words]) => words.split(" ").map((word) => [word, meaning])));

const keyWords = "api-key apikey api_key k key token";
const keyAdvice = "others can read a key on a command line; put it into IDV_API_KEY, or a file: idv login < key.txt";

/** @public The search of the site takes them, too, from the built file. */
export const optionsOfTables = wordsFor({
  [keyAdvice]: keyWords,
  "write --base-url URL": "url endpoint server host",
  "idv uses the cores by itself; for requests to a service at a time, write --set concurrency=N":
    "workers threads jobs j parallel",
  "write --set maxRetries=N": "retries retry",
  "write --dns": "mx check-mx",
  "idv asks no mailbox; --dns asks for the mail servers of domains": "smtp verify-smtp",
  "for the first 100 rows, for example: head -n 101 FILE | idv emails; for a limit of units: idv quota set --limit N":
    "limit head rows l sample max-rows max",
  "write --report FILE.html": "html",
  "write --report FILE.pdf": "pdf",
  "-o replaces a file that is there, and -I the input": "overwrite",
  "nothing is asked; -I replaces the file": "yes",
  "write -q": "no-progress silent",
  "--explain adds reasons, --log debug shows requests": "verbose v",
  "FILE needs no option; the format of the output is --format FORMAT": "f",
  "FILE needs no option": "file input",
  "FILE needs no option; -I replaces it": "i",
  "write --only STATUS": "status filter include keep valid-only only-valid good",
  "write --by COLUMN": "group-by",
  "write --format FORMAT": "output-format out-format",
  "write -d tab for fields between tabs, --format tsv to write them": "t tabs",
  "write --set rate=N/s": "rate-limit",
  "write --set dnsServer=ADDRESS": "resolver nameserver",
  "write --report FILE.md": "markdown",
  "standard input needs no option: idv emails < list.csv": "stdin",
  "write --format csv": "csv",
  "write --dedupe": "unique uniq distinct remove-duplicates",
  "write -o FILE": "outfile out-file output-file dest",
  "write -c COLUMN": "field email-column email-field cols columns names",
  "write -d tab, or --sheet NAME": "tab",
  "write --format tsv": "tsv",
  "write --format jsonl": "jsonl ndjson ojsonl",
  "write --format json": "ojson",
  "write -o FILE.xlsx": "xlsx excel",
  "write --sheet NAME": "worksheet tab-name sheet-name",
  "write --encoding NAME": "e charset",
  "write --skip-lines N": "skip-rows skip K",
  "write --quote CHAR": "quotechar quote-char escapechar",
  "write --color=never": "no-color no-colour",
  "NODE_EXTRA_CA_CERTS=FILE names a certificate authority of your own": "insecure cacert",
  "set HTTPS_PROXY": "proxy x",
  "write --dry-run": "test preview",
  "write --explain for suggestions, --fix for repaired rows": "typo suggest",
  "write --explain": "reason reasons details",
  "write -I.bak": "backup",
  "write --allow FILE": "allow-list allowlist whitelist",
  "write --deny FILE": "deny-list denylist blacklist blocklist",
  "with a key (idv login), a service is asked; leave out --offline": "online",
  "run the same command again: nothing is paid twice": "resume",
  "write --drop STATUS": "remove exclude remove-invalid drop-invalid",
  "write -d CHAR": "separator sep F ifs fs",
  "-n reads a table without one, --set header=never writes none": "header headers no-headers-out H",
  'write -c "*"': "all-columns",
  'for all columns, write -c "*", and for all sheets, --sheet "*"': "all",
  'write --sheet "*"': "all-sheets",
  "write --add canonical": "canonical",
  "write --add flags": "flags",
  "write --log debug": "debug",
  "write --fix": "fix-typos repair autocorrect",
  "write --fail-on disposable,fake:2%": "max-bad max-invalid max-errors",
  "write --fail-on disposable,fake, or --dns=strict": "strict",
  "the summary is on standard error; --log json writes it as JSON": "summary",
  "write --cache=off": "no-cache",
  "write --format jsonl for rows, --log json for the summary": "json",
});

const statuses = wordsFor({
  "ok,alias": "valid good deliverable",
  fake: "invalid undeliverable",
  "fake,disposable": "bad",
  disposable: "temporary temp throwaway",
  empty: "blank",
});

/** Other programs have fewer statuses: what is good to them is two here. */
export const statusesCalled = (word: string): readonly string[] | undefined =>
  statuses.get(word.toLowerCase())?.split(",");

const choices = wordsFor({
  "always on": "yes true on 1",
  "never off none": "no false off 0",
  offline: "local embedded",
  api: "service online remote http",
  skip: "ignore drop omit",
  keep: "pass copy",
  debug: "verbose trace",
  none: "quiet silent",
  hour: "hourly",
  day: "daily",
  month: "monthly",
});

/** A choice by another word for it, or undefined. */
export const choiceCalled = (word: string, known: readonly string[]): string | undefined =>
  choices
    .get(word.trim().toLowerCase())
    ?.split(" ")
    .find((each) => known.includes(each));

const commands = wordsFor({
  "to check a list: idv emails list.csv, and an address: idv check ADDRESS": "validate verify mail emial",
  "to check a list: idv emails list.csv": "clean run",
  "with -I.bak, the old file is list.csv.bak": "undo",
  "a report tells what changed since the one it replaces: idv emails list.csv --report FILE.html": "compare",
  "write idv emails list.csv --report FILE.html": "report",
  "idv doctor shows settings; idv help settings": "config",
  "write idv data update, or idv emails --update for new rows": "update",
  "write idv allow add DOMAIN": "whitelist",
  "write idv deny add DOMAIN": "blacklist block ban",
  "write idv emails list.csv --fix -o fixed.csv": "fix",
  "write idv emails list.csv --dedupe -o unique.csv": "dedupe",
  "write idv emails list.csv --dns": "dns",
  "to run the service: idv serve": "start",
  "of a list: idv emails list.csv --report FILE.html, of a service: idv usage": "stats",
  "write idv check ADDRESS --why": "explain why",
  "write idv --version": "version v",
  "write idv --help": "hlep hepl ? /? /help",
  "write idv quota show, or idv doctor": "status credits balance whoami",
  "write idv login": "signin auth",
  "write idv doctor": "configure setup test",
  "write idv emails list.csv -o checked.csv": "batch bulk upload file csv",
  "write idv page, or idv dashboard for a service": "web gui ui",
  "write idv keys create --name NAME": "users user token tokens api-key apikey",
  "write idv check ADDRESS": "check-email check-emails email-check",
  "write idv serve": "api server service",
  "install the new version in the way in which this one was installed": "upgrade",
});

const optionsOf = new Map([
  ["emails", optionsOfTables],
  ["domains", optionsOfTables],
  [
    "serve",
    wordsFor({
      "idv keys create makes the keys of a service": keyWords,
      "its pages are served already": "dashboard",
      "write --host ADDRESS": "listen bind address",
      "write --port PORT": "p",
      "run it with systemd: idv help service": "daemon d background",
      "put a proxy with the certificate in front: idv help service": "tls ssl https cert",
    }),
  ],
  ["quota", wordsFor({ "write idv quota set --limit N": "limit", "write idv quota set --period month": "period" })],
  ...["login", "doctor", "dashboard"].map(
    (name) => [name, wordsFor({ [keyAdvice]: keyWords, "write --base-url URL": "url endpoint server host" })] as const,
  ),
  ...["usage", "audit"].map(
    (name) => [name, wordsFor({ "write --since TIME, as in 30d": "from start days last" })] as const,
  ),
  [
    "check",
    wordsFor({
      [keyAdvice]: keyWords,
      "write --dns": "mx check-mx",
      "the reason and the suggestion are always printed; --why prints more": "explain",
      "write --json": "format jsonl csv",
      "it uses no network without --dns": "offline smtp",
      "it asks no service; idv emails does": "base-url url endpoint server host",
      "the values of a file: idv check - < FILE": "file input",
      "each VALUE is checked": "all",
      "write > FILE": "output o q quiet",
    }),
  ],
  ["", commands],
]);

const topics = wordsFor({
  statuses: "disposable fake alias ok reasons rules verdicts",
  tables: "csv tsv json jsonl xlsx excel column columns delimiter encoding format formats sheets",
  environment: "env variables variable",
  "exit-codes": "exit exitcode exitcodes codes errors",
  service: "docker server api dashboard systemd keys",
  settings: "config set dns proxy",
  machines: "shard shards spark parquet duckdb kubernetes pandas",
  recipes: "examples cron ci",
});

/** The topic about a word, such as a status, a variable or an exit code. */
export function topicAbout(word: string): string | undefined {
  if (/^IDV_/i.test(word)) return "environment";
  return /^\d+$/.test(word) ? "exit-codes" : topics.get(word.toLowerCase());
}

/** What users put among the settings, and where it belongs. */
const settingsElsewhere = wordsFor({
  "write --allow FILE, or set IDV_ALLOW": "allow allowlist",
  "write --deny FILE, or set IDV_DENY": "deny denylist",
  "write --quota FILE, or set IDV_QUOTA": "quota",
  "write -c COLUMN": "column",
  "write -d CHAR": "delimiter",
  "write --dns": "dns",
  "write --cache=off": "cache",
  "write engine=offline": "offline",
  "the setting is baseUrl": "url api server",
  "others can read a key on a command line; idv login stores it": "apikey key token",
});

export const insteadOfSetting = (name: string): string | undefined => settingsElsewhere.get(name.toLowerCase());

/** What an option is here; `command` is empty for `idv` itself. */
export function insteadOf(command: string, flag: string): string | undefined {
  const words = optionsOf.get(command);
  const bare = flag.replace(/^-+/, "");
  return words?.get(bare) ?? words?.get(bare.toLowerCase());
}

/** What a group of commands may call one of its own. */
const verbs = [
  "create new add make generate issue",
  "remove revoke delete del rm drop disable",
  "show list stats ls get status info view print dump",
  "set change edit configure update",
  "update refresh sync download upgrade fetch pull",
  "prune clear clean purge empty flush delete remove rm",
  "export backup save dump",
  "import load restore",
  "rotate renew roll regenerate",
  "reset zero",
].map((words) => words.split(" "));

export const verbCalled = (word: string, known: readonly string[]): string | undefined =>
  verbs.filter((each) => each.includes(word)).flatMap((each) => known.filter((name) => each.includes(name)))[0];

const optionOfWord = new Map([
  ["keys create", "--name NAME"],
  ["quota set", "--limit N"],
  ["state export", "-o FILE"],
  ["usage", "--key ID, or --since TIME"],
  ["cache prune", "--older-than TIME"],
  ["audit", "--key ID"],
  ["serve", "--port N"],
  ["page", "-o FILE; a report of a list is idv emails list.csv --report FILE.html"],
]);

/** The option whose value a word would be, that `command` does not take alone. */
export const optionFor = (command: string): string | undefined => optionOfWord.get(command);

export const insteadOfCommand = (word: string): string | undefined => commands.get(word.toLowerCase());
