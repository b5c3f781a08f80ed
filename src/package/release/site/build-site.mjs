// node src/package/release/site/build-site.mjs
//
// Makes static pages in dist/site: a first page with a box to try and a report, README, how to install, the library, each format,
// help topics, the options of each command, reasons, the API and the changelog. They need no server: they open from a disk, too.
// Needs a build.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Marked } from "marked";
import MiniSearch from "minisearch";
import { rolldown } from "rolldown";
import { readTopic } from "../../../../dist/cli/help/from-markdown.js";
import { topicNames } from "../../../../dist/cli/help/topic-names.js";
import { optionsOfTables as wordsOfOthers } from "../../../../dist/cli/options/others-words.js";
import { createProgram } from "../../../../dist/cli/program.js";
import { reasons } from "../../../../dist/core/classifier/rules/rules.js";
import { facts, root } from "../targets.mjs";

const folder = join(root, "dist/site");
const repository = facts.homepage.replace(/#.*/, "");
const text = (path) => readFileSync(join(root, path), "utf8");
const escaped = (value) =>
  value.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
const slugOf = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** Pages that stand for files of the project; other files are shown by the repository. */
const pagesOfFiles = { "README.md": "readme.html", "CHANGELOG.md": "changelog.html" };

const marked = new Marked({
  renderer: {
    heading({ tokens, depth }) {
      const title = this.parser.parseInline(tokens);
      return `<h${depth} id="${slugOf(title.replace(/<[^>]*>|&\w+;/g, " "))}">${title}</h${depth}>\n`;
    },
    code: ({ text: content }) => `<pre tabindex="0"><code>${escaped(content)}</code></pre>\n`,
    link({ href, tokens }) {
      const target = /^(?:https?:|#|topic-)/.test(href)
        ? href
        : (pagesOfFiles[href] ?? `${repository}/blob/main/${href}`);
      return `<a href="${escaped(target)}">${this.parser.parseInline(tokens)}</a>`;
    },
    table({ header, rows }) {
      const line = (cells) => cells.map(({ tokens }) => this.parser.parseInline(tokens));
      return table(line(header), rows.map(line));
    },
  },
});

const table = (header, rows) =>
  `<div class="wide" tabindex="0"><table><thead><tr>${header.map((name) => `<th>${name}</th>`).join("")}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`)
    .join("")}</tbody></table></div>`;
const code = (value) => `<code>${escaped(value)}</code>`;

/** Returns the commands that do something, by their words. */
function commandsBelow(command, words = []) {
  return command.commands
    .filter((each) => each.name() !== "help")
    .flatMap((each) =>
      each.commands.length > 0 ? commandsBelow(each, [...words, each.name()]) : [[...words, each.name()]],
    );
}

const helpOf = (words) =>
  execFileSync(process.execPath, [join(root, "bin/idv.js"), ...words, "--help"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, COLUMNS: "80", NO_COLOR: "1" },
  });

/** Returns the help of a command as HTML, in which each option has a link. */
function helpPage(words) {
  // A text that goes on is indented under its start.
  const [usage, ...lines] = helpOf(words)
    .trimEnd()
    .replace(/\n {5,}(?=\S)/g, " ")
    .split("\n");
  const html = [`<h1>idv ${words.join(" ")}</h1>`, `<pre tabindex="0">${escaped(usage)}</pre>`];
  let list = "";
  const end = () => {
    if (list !== "") html.push(`</${list}>`);
    list = "";
  };
  const begin = (tag) => {
    if (list === tag) return;
    end();
    html.push(`<${tag}${tag === "pre" ? ' tabindex="0"' : ""}>`);
    list = tag;
  };
  for (const line of lines) {
    const [, heading] = /^(\S.*):$/.exec(line) ?? [];
    const [, term, meaning] = /^ {2}(\S.*?) {2,}(\S.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      end();
      html.push(`<h2 id="${slugOf(heading)}">${escaped(heading)}</h2>`);
    } else if (term !== undefined) {
      begin("dl");
      const [, name] = /--([a-z-]+)/.exec(term) ?? [];
      const shown = name === undefined ? code(term) : `<a href="#option-${name}">${code(term)}</a>`;
      html.push(`<dt${name === undefined ? "" : ` id="option-${name}"`}>${shown}</dt><dd>${escaped(meaning)}</dd>`);
    } else if (line.startsWith("  $ ")) {
      begin("pre");
      html.push(escaped(line.slice(4)));
    } else if (line !== "") {
      end();
      html.push(`<p>${escaped(line)}</p>`);
    }
  }
  end();
  return html.join("\n");
}

/** Formats, and how the items of the topic on tables begin that are about them. */
const formats = [
  [
    "csv",
    "CSV and TSV",
    "idv emails list.csv -o checked.csv",
    [
      "CSV, TSV and other",
      "The first record",
      "Titles, notes",
      "The column is found",
      "Every record",
      "A quote without",
    ],
  ],
  ["lists", "Plain lists", "idv emails list.txt -d none -o checked.csv", ["Plain lists:", "In a plain list"]],
  [
    "json",
    "JSON and JSON Lines",
    "idv emails people.json -c users.email -o checked.json",
    ["JSON Lines:", "JSON documents:", "A JSON document comes back", "JSON in a field"],
  ],
  [
    "excel",
    "Excel",
    'idv emails book.xlsx --sheet "*" -I.bak',
    [
      "Spreadsheet files",
      "A workbook comes back",
      "`--only`, `--drop` and `--dedupe` take",
      "`--shard` and `--bad-rows`",
    ],
  ],
  ["contacts", "Address books", "idv emails contacts.vcf -o checked.csv", ["Address books"]],
  [
    "archives",
    "Archives",
    "idv emails audience.zip -o checked.zip",
    ["gzip and zstd", "Zip archives", "A zip archive comes back"],
  ],
];

function formatPage([, title, command, starts], markdown) {
  const items = markdown.split(/\n(?=- |\n|#)/);
  const about = starts.map((start) => {
    const found = items.filter((each) => each.startsWith(`- ${start}`));
    if (found.length !== 1) throw new Error(`the topic on tables has ${found.length} items "${start}"`);
    return found[0];
  });
  return marked.parse(`# ${title}\n\n\`\`\`sh\n${command}\n\`\`\`\n\n${about.join("\n")}\n`);
}

/** Writes the report on the example list, and its picture. */
function writeReport() {
  const state = mkdtempSync(join(tmpdir(), "idv-"));
  const reports = ["html", "svg"].flatMap((ending) => ["--report", join(folder, `report.${ending}`)]);
  const args = ["emails", "newsletter.csv", "--offline", "-q", "-o", join(state, "checked.csv"), ...reports];
  execFileSync(process.execPath, [join(root, "bin/idv.js"), ...args], {
    cwd: join(root, "fixtures"),
    env: { PATH: process.env.PATH, HOME: state },
  });
  rmSync(state, { recursive: true });
}

/** Returns the document of the API, as a service answers it. */
async function apiDocument() {
  const state = mkdtempSync(join(tmpdir(), "idv-"));
  const args = ["serve", "-q", "--port", "0", "--state", join(state, "service.db")];
  const child = spawn(process.execPath, [join(root, "bin/idv.js"), ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    let said = "";
    for await (const chunk of child.stderr) {
      said += chunk;
      const url = /listening on (http:\S+)/.exec(said)?.[1];
      if (url) return await (await fetch(`${url}/openapi.json`)).json();
    }
    throw new Error(said);
  } finally {
    child.kill();
    await ended;
    rmSync(state, { recursive: true });
  }
}

function apiPage({ info, paths }) {
  const schema = (value) => `<pre tabindex="0">${escaped(JSON.stringify(value, undefined, 2))}</pre>`;
  const operation = ([method, { summary = "", description = "", parameters = [], requestBody, responses }], path) => {
    const bodies = Object.entries(requestBody?.content ?? {});
    return `<h2 id="${slugOf(`${method} ${path}`)}">${method.toUpperCase()} ${escaped(path)}</h2>
<p>${escaped(summary)}</p><p>${escaped(description)}</p>
${
  parameters.length === 0
    ? ""
    : table(
        ["Parameter", "In", "Meaning"],
        parameters.map((each) => [code(each.name), each.in, escaped(each.description ?? "")]),
      )
}
${bodies.map(([type, content]) => `<h3>Body, ${code(type)}</h3>${schema(content.schema)}`).join("")}
${table(
  ["Status", "Meaning"],
  Object.entries(responses).map(([status, { description: meaning }]) => [status, escaped(meaning)]),
)}`;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map((each) => operation(each, path)),
  );
  return `<h1>${escaped(info.title)}</h1>
<p>${escaped(info.description ?? "")} The document in full: <a href="openapi.json">openapi.json</a>.</p>${operations.join("\n")}`;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const program = await createProgram(facts.version, ["help"]);
const topics = topicNames.map((name) => {
  const markdown = readTopic(name);
  return { path: `topic-${name}.html`, title: /^# (.*)$/m.exec(markdown)[1], html: marked.parse(markdown) };
});
const commands = commandsBelow(program).map((words) => {
  return { path: `command-${words.join("-")}.html`, title: `idv ${words.join(" ")}`, html: helpPage(words) };
});
const ownPage = (name, title) => {
  return { path: `${name}.html`, title, html: marked.parse(text(`src/package/release/site/pages/${name}.md`)) };
};
writeReport();
const api = await apiDocument();
writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(api, undefined, 2)}\n`);
const reasonRows = reasons.map(({ code: name, status, words, example, source }) => [
  `<span id="${slugOf(name)}">${code(name)}</span>`,
  status,
  escaped(words),
  marked.parseInline(example),
  escaped(source),
]);
const groups = [
  [
    "idv",
    [
      { path: "index.html", title: "Start", html: text("src/package/release/site/start.html") },
      ownPage("install", "Install"),
      { path: "readme.html", title: "Tour", html: marked.parse(text("README.md")) },
      ownPage("library", "Library"),
    ],
  ],
  [
    "Formats",
    formats.map((format) => {
      const [name, title] = format;
      return { path: `format-${name}.html`, title, html: formatPage(format, readTopic("tables")) };
    }),
  ],
  [
    "Reference",
    [
      ...topics,
      {
        path: "reasons.html",
        title: "Reasons",
        html: `<h1>Reasons</h1>${table(["Reason", "Status", "In words", "Example", "Source"], reasonRows)}`,
      },
      { path: "api.html", title: "HTTP API", html: apiPage(api) },
    ],
  ],
  ["Commands", commands],
  ["Project", [{ path: "changelog.html", title: "Changelog", html: marked.parse(text("CHANGELOG.md")) }]],
];
const pages = groups.flatMap(([, each]) => each);

/** The page that checks lists, which is no page of the site: it has its own style and sends nothing. */
const checkLink = '<p><a href="check.html">Check a list in your browser</a></p>';
const menu = (current) =>
  checkLink +
  groups
    .map(
      ([name, each]) =>
        `<h2>${name}</h2><ul>${each
          .map(
            ({ path, title }) =>
              `<li><a href="${path}"${path === current ? ' aria-current="page"' : ""}>${escaped(title)}</a></li>`,
          )
          .join("")}</ul>`,
    )
    .join("");

const pageOf = ({ path, title, html }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:">
<meta name="referrer" content="no-referrer">
<title>${escaped(title === "Start" ? "idv: validates e-mail addresses and domains in bulk" : `${title} - idv`)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="site.css">
<script src="search-index.js" defer></script>
<script src="site.js" defer></script>${path === "index.html" ? '\n<script src="try.js" defer></script>' : ""}
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="name" href="index.html">idv</a>
<form role="search"><input type="search" placeholder="Search" aria-label="Search" autocomplete="off"></form>
</header>
<section class="results" aria-label="Results" hidden></section>
<nav aria-label="Pages"><details><summary>Pages</summary>${menu(path)}</details></nav>
<main id="content">${html}</main>
</body>
</html>
`;
for (const page of pages) writeFileSync(join(folder, page.path), pageOf(page));
copyFileSync(join(root, "dist/page/index.html"), join(folder, "check.html"));
copyFileSync(join(root, "dist/page/service-worker.js"), join(folder, "service-worker.js"));

const plain = (html) =>
  html
    .replace(/<[^>]*>/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();

/** What users of other programs call an option, of which the text says nothing. */
const wordsFor = (option) =>
  Array.from(wordsOfOthers, ([word, meaning]) => (meaning.includes(option) ? word : "")).join(" ");

/** Parts of pages, each from one heading to the next. */
const parts = pages.flatMap(({ path, title, html }) =>
  html.split(/(?=<(?:h[1-3]|dt) id=)/).map((part, index) => {
    const [, id, heading] = /^<(?:h[1-3]|dt) id="([^"]*)">(.*?)<\/(?:h|dt)/.exec(part) ?? [];
    const place = id === undefined || index === 0 ? path : `${path}#${id}`;
    const own = plain(heading ?? title);
    const text = plain(part);
    const [option] = /--[a-z-]+/.exec(own) ?? [];
    const words = option === undefined ? "" : wordsFor(option);
    return {
      id: place,
      page: title,
      title: own,
      text: text.startsWith(own) ? text.slice(own.length).trim() : text,
      words,
    };
  }),
);
const fields = ["title", "page", "text", "words"];
const search = new MiniSearch({ fields, storeFields: ["title", "page", "text"] });
const isSame = (one, other) => one.id === other.id || (one.title === other.title && one.text === other.text);
// Options are the same in several commands, and headings may have nothing below them.
search.addAll(parts.filter((part, i) => part.text !== "" && parts.findIndex((each) => isSame(each, part)) === i));
writeFileSync(join(folder, "search-index.js"), `globalThis.searchIndex = ${JSON.stringify(JSON.stringify(search))};\n`);
for (const [input, file] of [
  ["search.js", "site.js"],
  ["try.js", "try.js"],
]) {
  // The box gets its table as bytes, and never by the address beside it.
  const transform = { define: { "import.meta.url": '"file:///"' } };
  const script = await rolldown({
    input: join(root, "src/package/release/site", input),
    cwd: root,
    logLevel: "warn",
    transform,
  });
  await script.write({ file: join(folder, file), format: "iife", minify: true });
}
const smallTable = readFileSync(join(root, "dist/browser/small.bin")).toString("base64");
writeFileSync(join(folder, "try-table.js"), `globalThis.smallTableText = "${smallTable}";\n`);
writeFileSync(join(folder, "site.css"), text("src/package/release/site/site.css"));
process.stdout.write(`dist/site: ${pages.length} pages\n`);
