/** Writes the manual page, `dist/man/idv.1`. Run by `npm run build`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createProgram } from "../program.js";
import { version } from "../version.js";
import { manualPage } from "./manual.js";
import { topicNames } from "./topic-names.js";
import { readTopic } from "./topics.js";

const topics = new URL("../../../src/cli/help/topics/", import.meta.url);
const folder = new URL("../../man/", import.meta.url);
// The word `help` loads the options of all commands.
const program = await createProgram(version(), ["help"]);
const texts = await Promise.all(topicNames.map((name) => readTopic(name, topics)));
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("idv.1", folder), manualPage(program, version(), texts));
