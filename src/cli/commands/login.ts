import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { removeFile, writePrivately } from "../../files/private-file.js";
import { checked, loginPath, readKeyText } from "../config/api-key.js";
import { resolveSettings, type SettingOptions } from "../config/settings.js";
import { resolveBaseUrl } from "../engines/engine-choice.js";
import { UsageError } from "../errors.js";
import { say } from "../terminal/terminal.js";

/** Runs `idv login`: keeps a key, from standard input or as it is typed, for one service. */
export async function login(options: SettingOptions): Promise<void> {
  // A project's file should not say where a key is for.
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

/** Runs `idv logout`. */
export async function logout(): Promise<void> {
  const path = loginPath(process.env);
  await removeFile(path);
  say(`${path} is removed`);
}

/** Asks for a line that nobody sees. */
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
