/** Runs a command over one file in a new folder, in this process: for tables of cases. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { idv } from "./run-here.js";
import { folderOf } from "./temporary-folder.js";

/** @param line the words of the command, separated by spaces; the name of the file follows the first word */
export async function runOver(content: string | Uint8Array, line: string, name = "l.csv") {
  const home = folderOf({ [name]: content });
  const [command = "", ...words] = line.split(" ");
  const { code, stdout, stderr } = await idv([command, name, ...words], { home });
  return {
    code,
    output: Buffer.from(stdout, "latin1").toString(),
    stderr,
    home,
    /** Names of the files in the folder afterwards, without the state of the program. */
    files: readdirSync(home).filter((file) => file !== "state"),
    read: (file: string) => readFileSync(join(home, file), "utf8"),
  };
}
