/** `idv login` and `idv logout`: store the key of one service, and remove it. */
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { AuthorisationError, ServiceError } from "../../../core/validator/errors.js";
import { removeFile, writePrivately } from "../../../files/private-file.js";
import { checked, loginPath, readKeyText } from "../../config/api-key.js";
import { resolveSettings } from "../../config/resolve-settings.js";
import type { Resolved, Settings } from "../../config/settings.js";
import { checkSafe, resolveBaseUrl } from "../../engines/engine-choice.js";
import { UsageError } from "../../errors.js";
import { type OptionValues, optionRecords } from "../../options/option.js";
import { baseUrlOptions, setOptions } from "../../options/service.js";
import { say } from "../../terminal/terminal.js";
import { type DefineCommand, describe } from "../command.js";

const options = optionRecords({
  ...baseUrlOptions,
  ...setOptions,
  verify: { flags: "--no-verify", help: "store the key without asking the service" },
});

type LoginOptions = OptionValues<typeof options>;

export const define: DefineCommand = (command) => (command.name() === "login" ? defineLogin : defineLogout)(command);

const defineLogin: DefineCommand = (command) => {
  describe(command, {
    description:
      "Stores the key of a service, read from standard input or typed without echo.\nAsks the service once whether it accepts the key; nothing is charged.",
    examples: ["login --base-url https://validation.example.com", "login < key.txt"],
    options,
    environment: ["XDG_CONFIG_HOME"],
    exitCodes: [3, 5],
  }).action(login);
};

async function login(options: LoginOptions): Promise<void> {
  // The project's file is left out: it must not decide where a key is sent.
  const settings = await resolveSettings(options, process.env, undefined, say);
  const service = await resolveBaseUrl(settings.baseUrl, process.env);
  if (service === undefined) {
    throw new UsageError("no base URL: name the service that the key is for with --base-url or IDV_BASE_URL");
  }
  const text = process.stdin.isTTY ? await prompt(`Key for ${service.value}: `) : await readKeyText(process.stdin);
  const { value: key } = checked(text, "standard input");
  if (options.verify) await verify(service, key, settings);
  const path = loginPath(process.env);
  await writePrivately(path, `${JSON.stringify({ baseUrl: service.value, key })}\n`);
  say(`the key for ${service.value} is kept in ${path}`);
}

async function verify(baseUrl: Resolved<string>, value: string, settings: Settings): Promise<void> {
  checkSafe(baseUrl, settings);
  const key = { value, source: "standard input" };
  const { askService } = await import("../../engines/ask-service.js");
  await askService({ name: "api", reason: "login", baseUrl, key }, settings).catch((error: Error) => {
    if (error instanceof AuthorisationError) error.message += "; the key is not stored";
    if (error instanceof ServiceError) error.message += "; the key is not stored; --no-verify stores it unchecked";
    throw error;
  });
}

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

const defineLogout: DefineCommand = (command) => {
  describe(command, {
    description: "Removes the key that idv login keeps.",
    examples: ["logout"],
    environment: ["XDG_CONFIG_HOME"],
  }).action(logout);
};

async function logout(): Promise<void> {
  const path = loginPath(process.env);
  const isThere = existsSync(path);
  await removeFile(path);
  say(isThere ? `removed ${path}` : "there was no key to remove");
}
