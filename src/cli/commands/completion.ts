/** `idv completion`: scripts for shells, and the suggestions that they ask for. */
import { Argument } from "commander";
import { printable } from "../../text.js";
import { scripts } from "../completion/scripts.js";
import { UsageError } from "../errors.js";
import { oneOf, parsed } from "../options/values.js";
import { print } from "../terminal/standard-output.js";
import { type DefineCommand, describe } from "./command.js";

export const define: DefineCommand = (completion) => {
  describe(completion, {
    description: "Prints a script that lets a shell complete commands, options, statuses, columns and files.",
    examples: ["completion bash >> ~/.bashrc", "completion fish > ~/.config/fish/completions/idv.fish"],
  })
    .addArgument(new Argument("<SHELL>", shells.join(", ")).argParser(shellOrSuggest))
    .argument("[WORD...]", "command line to complete, for these scripts")
    .action(async (shell: string, words: readonly string[]) => {
      if (shell !== "suggest") {
        if (words.length > 0) throw new UsageError(`${printable(words[0]!)}: one shell at a time`);
        return print(scripts[shell]!);
      }
      const { suggest } = await import("../completion/suggest.js");
      const { words: suggestions, isFile } = await suggest(completion.parent!, words);
      if (isFile) return print(":files\n");
      print(suggestions.map(([word, meaning]) => `${printable(word)}\t${meaning}\n`).join(""));
    });
};

const shells = Object.keys(scripts);

const shellOrSuggest = (word: string): string =>
  word === "suggest" ? word : parsed("completion", word, oneOf(...shells));
