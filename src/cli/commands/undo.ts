/** `idv undo`: puts back files that a run has replaced, from their backups. */
import { randomBytes } from "node:crypto";
import { link, lstat, rename, rm } from "node:fs/promises";
import { cannotWrite, FileError } from "../../files/errors.js";
import { UsageError } from "../errors.js";
import { type OptionValues, optionRecords } from "../options/option.js";
import { filled } from "../options/values.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const options = optionRecords({
  suffix: { flags: "--suffix <SUFFIX>", help: "what -I was given", parse: filled, fallback: ".bak" },
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Puts back a file that idv emails -I.bak has replaced. The checked file becomes the backup, so that a second undo\nbrings it back.",
    examples: ["undo list.csv", "undo list.csv --suffix .old"],
    options,
    topics: ["tables"],
  })
    .argument("<FILE...>", "files that were replaced")
    .action(undoAll);
};

async function undoAll(files: readonly string[], { suffix }: OptionValues<typeof options>): Promise<void> {
  // All of them are looked at before the first is changed.
  const known = new Set<string>();
  for (const file of files) {
    const id = await checkBoth(file, suffix);
    // A second time would bring the checked file back.
    if (known.has(id)) throw new UsageError(`${file}: is given twice; name it once`);
    known.add(id);
  }
  for (const file of files) {
    await swap(file, `${file}${suffix}`);
    say(`${file}: put back; the checked file is ${file}${suffix} now`);
  }
}

/**
 * Returns what identifies a file, whatever path names it.
 *
 * @throws UsageError when one of a file and its backup is missing, or is no regular file
 */
async function checkBoth(file: string, suffix: string): Promise<string> {
  const ids: string[] = [];
  for (const path of [file, `${file}${suffix}`]) {
    const found = await lstat(path, { bigint: true }).catch(() => undefined);
    if (!found?.isFile()) {
      const what = found === undefined ? "there is no such file" : "is not a regular file";
      throw new UsageError(`${path}: ${what}; undo needs FILE and its backup, FILE${suffix} (--suffix)`);
    }
    ids.push(`${found.dev} ${found.ino}`);
  }
  return ids[0]!;
}

/** @throws FileError when they cannot be renamed; then both are as they were */
async function swap(file: string, backup: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    // A second name, where there can be one: a process that is killed then leaves the file under its own.
    const isLinked = await link(file, aside).then(
      () => true,
      () => false,
    );
    if (!isLinked) await rename(file, aside);
    try {
      await rename(backup, file);
    } catch (error) {
      await (isLinked ? rm(aside) : rename(aside, file));
      throw error;
    }
    await rename(aside, backup);
  } catch (error) {
    throw error instanceof FileError ? error : cannotWrite(file, error);
  }
}
