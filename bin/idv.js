#!/usr/bin/env node
// Starts the program. What ends Node outside of it is a fault of idv (70), not a match of --fail-on (1).
const { statSync } = require("node:fs");
const { enableCompileCache } = require("node:module");

process.on("uncaughtException", (error) => {
  process.stderr.write(`idv: a bug in idv; please report it with the lines that follow\n${error.stack}\n`);
  process.exit(70);
});

// Node.js 22 and newer can keep compiled code, which saves a seventh of the time of a small run. Only below a home of the
// user's own, since whoever can change the code decides what runs: with sudo, the home may be another user's.
try {
  const { HOME, XDG_CACHE_HOME } = process.env;
  // A program of a single file has no modules that Node.js could keep.
  if (require.main === module && statSync(HOME).uid === process.getuid()) {
    const folder = XDG_CACHE_HOME?.startsWith(`${HOME}/`) ? XDG_CACHE_HOME : `${HOME}/.cache`;
    enableCompileCache?.(`${folder}/idv`);
  }
} catch {
  // No home, no cache.
}

async function start() {
  const { main } = require("../dist/bundle/main.js");
  await main(process.argv);
}
start().catch((error) => {
  const isIncomplete = error.code === "MODULE_NOT_FOUND";
  const what = isIncomplete ? "a part of it is missing; run npm ci in its folder" : error.message;
  process.stderr.write(`idv: cannot be started: ${what}\n`);
  process.exitCode = 70;
});
