/** `idv mcp`: idv as tools for assistants, over the Model Context Protocol on standard input and output. */

import { type OptionValues, optionRecords } from "../options/option.js";
import { type DefineCommand, describe } from "./command.js";

const options = optionRecords({
  online: { flags: "--online", help: "files may be sent to the service that is configured" },
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Serves the tools check, check_file, explain and quota to an assistant, over the Model Context Protocol (MCP) on standard input and output.\nFiles are those in this folder; nothing leaves the machine, unless --online is given.",
    examples: ["mcp", "mcp --online"],
    options,
    topics: ["recipes"],
  }).action(serveTools);
};

async function serveTools({ online }: OptionValues<typeof options>): Promise<void> {
  const { serveMcp } = await import("../mcp/server.js");
  await serveMcp({ folder: process.cwd(), isOnline: online === true });
}
