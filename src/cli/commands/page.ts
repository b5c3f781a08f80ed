/** `idv page`: the page that checks lists in the browser, on loopback or as a file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { openOutputFile } from "../../files/output.js";
import { writeWhole } from "../../files/table-sink.js";
import { readBuilt } from "../../package/own-files.js";
import { checkSideOutputs } from "../bulk/plan/side-outputs.js";
import { listenFault } from "../config/listen-address.js";
import { UsageError } from "../errors.js";
import { type OptionValues, optionRecords } from "../options/option.js";
import { filled, portOption } from "../options/values.js";
import { print } from "../terminal/standard-output.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const options = optionRecords({
  output: { flags: "-o, --output <FILE>", help: "write the page to FILE, which opens in any browser", parse: filled },
  open: { flags: "--open", help: "open it in the browser of this machine", conflicts: ["output"] },
  port: portOption("port on 127.0.0.1; 0 for any free one", 8788),
});

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Serves a page on which people without a terminal check a list: they drop a file, see the report, and save the checked file.\nThe list stays in their browser: the page sends nothing. With -o, it is one file to pass on.",
    examples: ["page --open", "page -o check-a-list.html"],
    options,
    topics: ["service"],
  }).action(showPage);
};

async function showPage({ output, open, port }: OptionValues<typeof options>): Promise<void> {
  const page = readBuilt("page/index.html");
  if (output !== undefined) {
    checkSideOutputs([{ path: output, kind: "page" }]);
    const file = await openOutputFile(output);
    return writeWhole(file, () => file.write(page));
  }
  const files: Readonly<Record<string, readonly [type: string, bytes: Uint8Array]>> = {
    "/": ["text/html; charset=utf-8", page],
    "/service-worker.js": ["text/javascript; charset=utf-8", readBuilt("page/service-worker.js")],
  };
  const server = createServer(({ url = "/", method }, response) => {
    const found = files[url.split("?", 1)[0]!];
    if (found === undefined || (method !== "GET" && method !== "HEAD")) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": found[0], "x-content-type-options": "nosniff" });
    response.end(method === "HEAD" ? undefined : found[1]);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(listenFault(error, `127.0.0.1:${port}`));
  });
  const { port: listening } = server.address() as { port: number };
  const address = `http://127.0.0.1:${listening}/`;
  print(`${address}\n`);
  if (process.stderr.isTTY) say("the page is there until Ctrl-C");
  if (open) openInBrowser(address);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  server.closeAllConnections();
  server.close();
}

function openInBrowser(address: string): void {
  const opener = process.platform === "darwin" ? ["open"] : ["xdg-open"];
  const [program, ...args] = process.platform === "win32" ? ["cmd", "/c", "start", ""] : opener;
  const child = spawn(program!, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => say(`no browser could be opened; open ${address} in one`));
  child.unref();
}
