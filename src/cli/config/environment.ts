/** The environment variables that idv reads, other than those of settings, each with a line of help. */
export const environmentVariables = {
  IDV_API_KEY: "key of the service",
  IDV_API_KEY_COMMAND: "command that prints the key, such as a vault's",
  IDV_QUOTA: "quota of the offline engine, unless --quota is given: FILE, or URL#NAME",
  IDV_QUOTA_KEY: "id of a key whose quota is charged, in place of a shared one",
  IDV_RUN: "name of a run; repeated runs with it pay once; kept for 7 days",
  IDV_CACHE_FILE: "cache file of a service's verdicts and of DNS findings",
  IDV_STATE: "state of idv serve, unless --state is given: a file or a postgres:// URL",
  IDV_STATE_FILE: "state file of idv serve, if there is no IDV_STATE",
  "PGHOST, PGUSER, PGPASSWORD ...": "connection to PostgreSQL, for what its URL leaves out",
  "LISTEN_FDS, LISTEN_PID": "the socket that systemd has opened for idv serve",
  IDV_ALLOW: "files of allowed domains and addresses, separated by :",
  IDV_DENY: "files of denied domains and addresses, separated by :",
  XDG_CONFIG_HOME: "folder of idv/config.json, the key of idv login, own lists and the cache secret (~/.config)",
  XDG_STATE_HOME: "folder of idv/quota.db, verdicts.db and service.db (~/.local/state)",
  XDG_DATA_HOME: "folder of idv/disposable.bin, from idv data update (~/.local/share)",
  XDG_CACHE_HOME: "folder below HOME for compiled code (~/.cache)",
  NODE_DISABLE_COMPILE_CACHE: "1: keep no compiled code",
  "HTTP_PROXY, HTTPS_PROXY, NO_PROXY": "proxies for requests to the service, and for lists",
  npm_config_registry: "registry of npm packages for idv data update, else that of ~/.npmrc",
  NODE_EXTRA_CA_CERTS: "file of additional certificate authorities",
  "NO_COLOR, FORCE_COLOR": "turn colours off; turn them on everywhere",
  "CI, TERM=dumb": "no progress line",
} as const;

export type EnvironmentVariable = keyof typeof environmentVariables;
