/** The environment variables that idv reads, other than those of settings, each with a line of help. */
export const environmentVariables = {
  IDV_API_KEY: "key of the service",
  IDV_API_KEY_COMMAND: "command that prints the key, such as a vault's",
  IDV_QUOTA_FILE: "quota of the offline engine, unless --quota-file names one",
  IDV_CACHE_FILE: "cache of the service's verdicts",
  IDV_STATE_FILE: "keys and quotas of idv serve, unless --state names a file",
  IDV_ALLOW: "lists of allowed domains and addresses; several with : between",
  IDV_DENY: "lists of denied domains and addresses; several with : between",
  XDG_CONFIG_HOME: "folder of idv/config.json and the key of idv login (~/.config)",
  XDG_STATE_HOME: "folder of idv/quota.db, verdicts.db and service.db (~/.local/state)",
  XDG_DATA_HOME: "folder of idv/disposable.bin, from idv data update (~/.local/share)",
  "HTTP_PROXY, HTTPS_PROXY, NO_PROXY": "proxies on the way to the service",
  NODE_EXTRA_CA_CERTS: "file of further certificate authorities",
  "NO_COLOR, FORCE_COLOR": "no colours; colours off a terminal too",
  "CI, TERM=dumb": "no progress line",
} as const;

export type EnvironmentVariable = keyof typeof environmentVariables;
