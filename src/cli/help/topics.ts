/** The help topics: Markdown files in `topics/`, wrapped to the width of the terminal. */
import { reasons } from "../../classifier/rules/rules.js";
import { readOwnFile } from "../../package/own-files.js";
import { environmentVariables } from "../config/environment.js";
import { settingNames, settingOf, variableOf } from "../config/settings.js";
import { exitCodeMeanings } from "../exit-codes.js";
import { renderMarkdown } from "./markdown.js";

/** Tables generated from the code. A line `{{settings}}` in the Markdown is replaced by the first one. */
const generated: Readonly<Record<string, () => string>> = {
  settings: () =>
    table(
      ["Setting", "Variable", "Default", "Meaning"],
      settingNames.map((name) => {
        const { fallback = "none", help } = settingOf(name);
        return [name, variableOf(name), fallback, help];
      }),
    ),
  reasons: () =>
    table(
      ["Reason", "Status", "Example"],
      reasons.map(({ code, status, example }) => [code, status, example]),
    ),
  environment: () => table(["Variable", "Meaning"], Object.entries(environmentVariables)),
  "exit-codes": () =>
    table(
      ["Code", "Meaning"],
      [...Object.entries(exitCodeMeanings), ["129, 130, 143", "ended by SIGHUP, SIGINT, SIGTERM"]],
    ),
};

export async function printTopic(name: string): Promise<string> {
  const columns = process.stdout.columns || 80;
  return renderMarkdown(await readTopic(name), Math.min(columns, 100));
}

export async function readTopic(name: string, folder = new URL("topics/", import.meta.url)): Promise<string> {
  const markdown = Buffer.from(readOwnFile(new URL(`${name}.md`, folder))).toString();
  return markdown.replace(/^\{\{([\w-]+)\}\}$/gm, (_, key: string) => generated[key]?.() ?? "");
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}
