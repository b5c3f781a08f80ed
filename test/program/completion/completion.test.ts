/** Covers the script of `idv completion` as bash runs it; test/cli/completion/suggest.test.ts has the suggestions. */
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { pathWithIdv } from "../../support/processes.js";
import { finished } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";
import { some } from "../../support/tier.js";

const lines = [
  ["idv em", "emails"],
  ["idv emails li", "list.csv"],
  ["idv emails list.csv --only ok,f", "ok,fake"],
  ["idv emails list.csv -c E", "E-Mail"],
  ["idv emails list.csv -c F", "First\\ Name"],
] as const;

test.each(some(lines, 2))("bash completes %s to %s", async (line, expected) => {
  const home = folderOf({ "list.csv": "id,E-Mail,First Name\n1,ann@larch-and-oak.com,Ann\n" });
  const words = line.split(" ");
  const script = `eval "$(idv completion bash)"
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
    _idv; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { PATH: pathWithIdv(home), HOME: home };
  const { stdout, stderr } = await finished(spawn("bash", ["-c", script], { cwd: home, env }));
  expect([stdout, stderr]).toEqual([`${expected}\n`, ""]);
});
