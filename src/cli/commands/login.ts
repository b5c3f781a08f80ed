/** `idv login`: stores the key of one service. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { writePrivately } from "../../files/private-file.js";
import { checked, loginPath, readKeyText } from "../config/api-key.js";
import { resolveSettings, type SettingOptions } from "../config/settings.js";
import { resolveBaseUrl } from "../engines/engine-choice.js";
import { UsageError } from "../errors.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe, settingOption } from "./command.js";

export const define: DefineCommand = (command) => {
  describe(command, {
    description: "Stores the key of a service, read from standard input or typed without echo.",
    examples: ["login --base-url https://validation.example.com", "login < key.txt"],
    environment: ["XDG_CONFIG_HOME"],
    exitCodes: [3],
  })
    .addOption(settingOption("baseUrl"))
    .action(login);
};

/** Stores a key for one service. Reads it from standard input, or asks for it on a terminal. */
async function login(options: SettingOptions): Promise<void> {
  // Without the project's file, which must not say where a key is sent.
  const settings = await resolveSettings(options, process.env, undefined, say);
  const place = await resolveBaseUrl(settings.baseUrl, process.env);
  if (place === undefined) {
    throw new UsageError("no base URL: name the service that the key is for with --base-url or IDV_BASE_URL");
  }
  const text = process.stdin.isTTY
    ? await prompt(`Key for ${place.value}: `)
    : await readKeyText(process.stdin);
  const { value: key } = checked(text, "standard input");
  const path = loginPath(process.env);
  await writePrivately(path, `${JSON.stringify({ baseUrl: place.value, key })}\n`);
  say(`the key for ${place.value} is kept in ${path}`);
}

/** Asks for a line, which is not shown while it is typed. */
function prompt(question: string): Promise<string> {
  process.stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("close", () => {
      process.stderr.write("\n");
      reject(new UsageError("no key was typed"));
    });
  });
}
