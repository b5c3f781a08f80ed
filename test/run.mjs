// node test/run.mjs ARGUMENTS...
//
// Runs the tests of the parts and of the program side by side, each with the arguments: the program waits for servers and
// children where the others compute, and vitest runs one project after the other.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const tool = fileURLToPath(new URL("tool.mjs", import.meta.url));
const config = fileURLToPath(new URL("vitest.config.ts", import.meta.url));
const codes = await Promise.all(
  [["program"], ["unit", "integration"]].map(async (projects) => {
    const named = projects.flatMap((project) => ["--project", project]);
    const args = ["vitest", "--config", config, "run", ...named, ...process.argv.slice(2)];
    const [code] = await once(spawn(process.execPath, [tool, ...args], { stdio: "inherit" }), "close");
    return code;
  }),
);
process.exitCode = codes.find((code) => code !== 0) ?? 0;
