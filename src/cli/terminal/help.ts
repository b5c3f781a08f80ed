import { exitCodeHelp } from "../exit-codes.js";

/** Examples for each command, as the user types them. */
const examples: Readonly<Record<string, readonly string[]>> = {
  idv: ["idv emails list.csv > checked.csv", "idv domains domains.txt", "idv check ann.lee@gmial.com"],
  emails: [
    "idv emails list.csv > checked.csv",
    "idv emails -I.bak list.csv --explain",
    "idv emails list.csv --drop disposable,fake --dedupe -o clean.csv",
    "cat list.csv | idv emails -c email | head",
    "idv emails export.csv.gz --bad-rows skip --bad-rows-file bad.csv -o checked.csv.gz",
    "idv emails list.jsonl -c contact --split checked/",
    "idv emails list.csv --dry-run",
    "idv emails list.csv -o checked.csv --rate 1000/h --wait 12h",
    "idv emails signups.tsv --fail-on disposable,fake -q > /dev/null",
  ],
  domains: ["idv domains domains.txt", "idv domains customers.csv -c website -o checked.csv"],
  check: ["idv check ann.lee@gmial.com mailinator.com", "idv check --json ann+news@example.net"],
  quota: ["idv quota show", "idv quota set --limit 10000 --period month"],
  "quota show": ["idv quota show", "idv quota show --json"],
  "quota set": ["idv quota set --limit 10000 --period month", "idv quota set --limit none"],
  "quota reset": ["idv quota reset"],
  serve: ["idv serve", "idv serve --port 8080 --state /var/lib/idv/service.db"],
  keys: ["idv keys create --name shop --limit 10000 --period month", "idv keys list"],
  "keys create": [
    "idv keys create --name shop --limit 10000 --period month",
    "idv keys create --name tests --sandbox --permissions emails",
  ],
  "keys list": ["idv keys list", "idv keys list --json"],
  "keys set": ["idv keys set 04sX1bQ2z --limit none --expires never"],
  "keys revoke": ["idv keys revoke 04sX1bQ2z"],
  "keys rotate": ["idv keys rotate 04sX1bQ2z"],
  login: ["idv login --base-url https://validation.example.com", "pass idv | idv login"],
  logout: ["idv logout"],
  doctor: ["idv doctor", "idv doctor --online"],
  cache: ["idv cache stats", "idv cache prune --older-than 90d"],
  "cache stats": ["idv cache stats", "idv cache stats --json"],
  "cache clear": ["idv cache clear"],
  "cache prune": ["idv cache prune --older-than 90d"],
  data: ["idv data show", "idv data update"],
  "data show": ["idv data show", "idv data show --json"],
  "data update": ["idv data update"],
};

const environmentHelp = `
Environment:
  IDV_QUOTA_FILE  where the offline quota is kept, unless --quota-file says so
  IDV_ALLOW, IDV_DENY  files with lists of your own, unless --allow and --deny name some; several with : between
  IDV_STATE_FILE  where idv serve and idv keys keep keys and quotas, unless --state says so
  IDV_API_KEY, IDV_API_KEY_COMMAND  the key of the service, and a command that prints it; idv login keeps one too
  IDV_ENGINE, IDV_BASE_URL, IDV_BATCH_SIZE, IDV_CONCURRENCY, IDV_TIMEOUT, IDV_MAX_RETRIES, IDV_RETRY_BUDGET,
  IDV_RATE, IDV_CACHE_TTL  like the options of these names; .idvrc.json in the folder or above it and idv/config.json
                  in XDG_CONFIG_HOME (default ~/.config) may hold them too: {"baseUrl": "https://...", "batchSize": 500}
  IDV_CACHE_FILE  where the verdicts of the service are remembered
  HTTP_PROXY, HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS  as elsewhere
  XDG_STATE_HOME  the folder for idv/quota.db, idv/service.db, idv/verdicts.db otherwise (default ~/.local/state)
  XDG_DATA_HOME   the folder for idv/disposable.bin, which idv data update makes (default ~/.local/share)
  NO_COLOR        no colours; FORCE_COLOR: colours off a terminal too
  CI, TERM=dumb   no progress line`;

/** What every command's help ends with: examples, environment variables and exit codes. */
export function helpTail(command: string): string {
  const lines = (examples[command] ?? []).map((example) => `  $ ${example}`);
  return `\nExamples:\n${lines.join("\n")}\n${environmentHelp}\n${exitCodeHelp}`;
}
