/** Removed options and their replacements. */
const removedOptions: Readonly<Record<string, string>> = {
  "--allow-insecure-http": "--set allowInsecureHttp=true",
  "--annotations": "--log github",
  "--bad-rows-file": "--bad-rows skip:FILE",
  "--batch-size": "--set batchSize=N",
  "--cache-ttl": "--set cacheTtl=TIME",
  "--cell": "--set cell=first|worst|best",
  "--dns-concurrency": "--set dnsConcurrency=N",
  "--dns-rate": "--set dnsRate=N/s",
  "--dns-server": "--set dnsServer=IP",
  "--empty-values": "--set emptyValues=LIST",
  "--engine": "--offline, or --set engine=api|offline",
  "--escape": "--quote with two characters, the second before a quote in a field",
  "--fail-on-empty": "--fail-on no-rows",
  "--json": "--format jsonl for the table, or --log json for the summary",
  "--max-bad": "a limit in --fail-on: disposable,fake:2%",
  "--max-retries": "--set maxRetries=N",
  "--no-cache": "--cache off",
  "--no-precheck": "--set precheck=false",
  "--progress": "--log text|plain|json",
  "--quota-file": "--quota FILE",
  "--quota-name": "--quota URL#NAME",
  "--ragged": "--set ragged=error",
  "--refresh": "--cache refresh",
  "--retry-budget": "--set retryBudget=TIME",
  "--strict": "no option: records are found as csv-parse finds them",
  "--summary": "--log text|json|none",
  "--summary-file": "--log json:FILE",
  "--timeout": "--set timeout=TIME",
};

/**
 * Completes the message about an unknown option with its replacement. Other messages stay, and so does one whose
 * replacement is not in `flags`, the options of the command.
 */
export function withReplacement(message: string, flags: readonly string[]): string {
  const [, flag = ""] = /unknown option '(--[\w-]+)/.exec(message) ?? [];
  const instead = removedOptions[flag];
  if (instead === undefined) return message;
  const needed = instead.match(/--[a-z-]+/g) ?? [];
  return needed.every((each) => flags.includes(each)) ? `unknown option '${flag}': use ${instead}` : message;
}
