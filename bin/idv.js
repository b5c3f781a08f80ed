#!/usr/bin/env node
// Starts the program. What ends Node outside of it is a fault of idv (70), not a match of --fail-on (1).
process.on("uncaughtException", (error) => {
  process.stderr.write(`idv: a bug in idv; please report it with the lines that follow\n${error.stack}\n`);
  process.exit(70);
});

try {
  const { main } = await import("../dist/bundle/main.js");
  await main(process.argv);
} catch (error) {
  const isIncomplete = error.code === "ERR_MODULE_NOT_FOUND";
  const what = isIncomplete ? "a part of it is missing; run npm ci in its folder" : error.message;
  process.stderr.write(`idv: cannot be started: ${what}\n`);
  process.exitCode = 70;
}
