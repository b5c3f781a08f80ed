/** `idv logout`: removes the key that `idv login` has stored. */
import { existsSync } from "node:fs";
import { removeFile } from "../../../files/private-file.js";
import { loginPath } from "../../config/api-key.js";
import { say } from "../../terminal/terminal.js";
import { type DefineCommand, describe } from "../command.js";

export const define: DefineCommand = (command) => {
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
