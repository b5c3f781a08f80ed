/** Writes the blocks of the help topics, and the manual page, `dist/man/idv.1`. Run by `npm run build`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { builtFile } from "../../package/own-files.js";
import { createProgram } from "../program.js";
import { version } from "../version.js";
import { blocksIn, manualPage, readTopic } from "./from-markdown.js";
import { topicNames } from "./topic-names.js";

const topics = Object.fromEntries(topicNames.map((name) => [name, blocksIn(readTopic(name))]));
// The word `help` loads the options of all commands.
const program = await createProgram(version(), ["help"]);
const manual = new URL("../../man/idv.1", import.meta.url);
for (const file of [builtFile("help/topics.json"), manual]) mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(builtFile("help/topics.json"), JSON.stringify(topics));
writeFileSync(manual, manualPage(program, version(), topics));
