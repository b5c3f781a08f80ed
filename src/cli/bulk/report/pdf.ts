/** `--report FILE.pdf`: the page, printed by a Chromium, Chrome or Edge of this machine. */
import type { ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { parseObject } from "../../../core/table/json/json-values.js";
import { FileError } from "../../../files/errors.js";
import { newPrivateFolder } from "../../../files/temporary-files.js";
import { signals } from "../../terminal/interruption.js";

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
const sayMilliseconds = 100;

/** Returns the path of a browser on PATH or in its usual place. */
export function findBrowser(env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [...onPath, ...usualPlaces].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The page goes to the browser through a pipe, and no network is used. A signal ends it. @throws FileError */
export async function printPage(page: string, path: string, env: NodeJS.ProcessEnv): Promise<Buffer> {
  let folder: string | undefined;
  let browser: ChildProcess | undefined;
  let stop = (_why: string) => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (why) => reject(new Error(why));
  });
  stopped.catch(() => {});
  const onSignal = (signal: string) => stop(`it was stopped by ${signal}`);
  const limit = setTimeout(() => stop("it took more than two minutes"), mostMilliseconds);
  for (const signal of signals) process.on(signal, onSignal);
  try {
    folder = await newPrivateFolder();
    browser = await start(findBrowser(env)!, folder, env, stop);
    return await Promise.race([pdfOf(page, callsOf(browser, stop)), stopped]);
  } catch (error) {
    throw new FileError(`${path}: the browser could not print it: ${(error as Error).message}`);
  } finally {
    clearTimeout(limit);
    for (const signal of signals) process.off(signal, onSignal);
    if (browser !== undefined) end(browser);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 20 }).catch(() => {});
  }
}

async function start(
  path: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  stop: (why: string) => void,
): Promise<ChildProcess> {
  // Seldom needed, and 2 ms to load.
  const { spawn } = await import("node:child_process");
  const browser = spawn(
    path,
    [
      ...["--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking"],
      ...["--host-resolver-rules=MAP * ~NOTFOUND", `--user-data-dir=${folder}`, "--remote-debugging-pipe"],
      // Chromium has no sandbox for root.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
    // A group of its own, which ends with it.
    { env, stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"], detached: true },
  );
  let said = "";
  browser.stderr!.on("data", (text: Buffer) => {
    said = `${said}${text}`.slice(-10_000);
  });
  browser.once("error", ({ message }) => stop(message));
  // What it said may come after its end.
  browser.once("exit", (code) =>
    setTimeout(() => stop(said.trim().split("\n").at(-1) || `it ended with ${code}`), sayMilliseconds),
  );
  return browser;
}

function end(browser: ChildProcess): void {
  try {
    if (process.platform === "win32") browser.kill("SIGKILL");
    else process.kill(-browser.pid!, "SIGKILL");
  } catch {
    // It has ended.
  }
  for (const stream of browser.stdio) stream?.destroy();
  browser.unref();
}

type Call = (method: string, params: object, sessionId?: unknown) => Promise<Record<string, unknown>>;

async function pdfOf(html: string, call: Call): Promise<Buffer> {
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  await call("Page.setDocumentContent", { frameId: targetId, html }, sessionId);
  const { data } = await call("Page.printToPDF", { printBackground: true, preferCSSPageSize: true }, sessionId);
  const pdf = Buffer.from(String(data), "base64");
  if (!pdf.subarray(0, 5).equals(Buffer.from("%PDF-"))) throw new Error("its output is not a PDF");
  return pdf;
}

/** Messages of the Chrome DevTools Protocol, which end in NUL. */
function callsOf({ stdio }: ChildProcess, stop: (why: string) => void): Call {
  const [commands, answers] = stdio.slice(3) as [Writable, Readable];
  commands.on("error", () => {});
  const waiting = new Map<number, (answer: Answer) => void>();
  let rest = "";
  answers.setEncoding("utf8").on("data", (text: string) => {
    const messages = `${rest}${text}`.split("\0");
    rest = messages.pop()!;
    for (const message of messages) {
      const answer = parseObject(message) as Answer | undefined;
      if (answer === undefined) stop("its output is not DevTools protocol");
      else waiting.get(answer.id)?.(answer);
    }
  });
  return (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, ({ result, error }) =>
        result === undefined ? reject(new Error(`${method}: ${error?.message ?? "no result"}`)) : resolve(result),
      );
      commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
}

interface Answer {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}
