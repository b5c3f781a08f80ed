/** `--report FILE.pdf`: the page, printed by a Chromium, Chrome or Edge of this machine. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { FileError } from "../../../files/errors.js";
import { newPrivateFolder } from "../../../files/temporary-files.js";

const names = [
  ...["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser"],
  ...["chrome.exe", "msedge.exe"],
];
const usualPlaces = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
];
/** Printing takes some seconds; a browser that hangs must not hold a run. */
const mostMilliseconds = 120_000;

/** Returns the path of a browser on PATH or in its usual place. */
export function findBrowser(env: NodeJS.ProcessEnv): string | undefined {
  const onPath = (env["PATH"] ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return [...onPath, ...usualPlaces].find((path) => existsSync(path));
}

/** The page goes to the browser through a pipe, and no network is used. @throws FileError */
export async function printPage(page: string, path: string, env: NodeJS.ProcessEnv): Promise<Buffer> {
  const folder = await newPrivateFolder();
  const browser = spawn(
    findBrowser(env)!,
    [
      ...["--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking"],
      ...["--host-resolver-rules=MAP * ~NOTFOUND", `--user-data-dir=${folder}`, "--remote-debugging-pipe"],
      // Chromium has no sandbox for root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
    { env, stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"], timeout: mostMilliseconds, killSignal: "SIGKILL" },
  );
  let said = "";
  browser.stderr!.on("data", (text: Buffer) => {
    said = `${said}${text}`.slice(-10_000);
  });
  const ended = new Promise<never>((_, reject) => {
    browser.once("error", reject);
    browser.once("close", (code) => reject(new Error(said.trim().split("\n").at(-1) || `it ended with ${code}`)));
  });
  try {
    return await Promise.race([pdfOf(page, callsOf(browser)), ended]);
  } catch (error) {
    throw new FileError(`${path}: the browser could not print it: ${(error as Error).message}`);
  } finally {
    browser.kill("SIGKILL");
    await ended.catch(() => {});
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Call = (method: string, params: object, sessionId?: unknown) => Promise<Record<string, unknown>>;

async function pdfOf(html: string, call: Call): Promise<Buffer> {
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  await call("Page.setDocumentContent", { frameId: targetId, html }, sessionId);
  const { data } = await call("Page.printToPDF", { printBackground: true, preferCSSPageSize: true }, sessionId);
  return Buffer.from(String(data), "base64");
}

/** Messages of the Chrome DevTools Protocol, which end in NUL. */
function callsOf({ stdio }: ChildProcess): Call {
  const [commands, answers] = stdio.slice(3) as [Writable, Readable];
  commands.on("error", () => {});
  const waiting = new Map<number, (answer: { result?: Record<string, unknown>; error?: Error }) => void>();
  let rest = "";
  answers.setEncoding("utf8").on("data", (text: string) => {
    const messages = `${rest}${text}`.split("\0");
    rest = messages.pop()!;
    for (const message of messages) {
      const answer = JSON.parse(message);
      waiting.get(answer.id)?.(answer);
    }
  });
  return (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, ({ result, error }) => (result === undefined ? reject(error) : resolve(result)));
      commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
}
