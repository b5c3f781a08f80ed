/** Progress of a run on standard error: a line that is redrawn, or lines for logs and programs. */
import { stripVTControlCharacters } from "node:util";
import type { RunProgress } from "../../core/run/run-options.js";
import { counted, grouped, printable } from "../../text.js";
import { barOf, isUnicodeLocale, statusColour, type TerminalStyle } from "./bars.js";
import { colours } from "./terminal.js";

/** `auto`: a line on a terminal, else nothing. `plain`: a line every ten seconds. `json`: a line every second. */
export type ProgressMode = "auto" | "plain" | "json" | "none";

export interface Progress {
  update(progress: RunProgress): void;
  stop(): void;
}

export interface ProgressSubject {
  readonly heading: string;
  readonly share: () => number | undefined;
  readonly details: (progress: RunProgress) => readonly string[];
}

/** In milliseconds. */
const delay = 100;
const terminalPause = 100;
const plainPause = 10_000;
const jsonPause = 1000;

/** False in CI, and between rows on a terminal. At 0 columns, as under script(1) in cron, ora erases endlessly. */
export function showsProgress(env: NodeJS.ProcessEnv, writesRows: boolean): boolean {
  const { isTTY, columns } = process.stderr;
  const isFree = !(writesRows && process.stdout.isTTY === true);
  return isTTY === true && columns > 0 && !env["CI"] && env["TERM"] !== "dumb" && isFree;
}

export function startProgress(mode: "auto" | "plain" | "json", subject: ProgressSubject): Progress {
  const started = performance.now();
  let latest: RunProgress = { rows: 0, rowsRead: 0, units: () => none, statuses: () => new Map() };
  const state = () => stateOf(latest, subject.share(), (performance.now() - started) / 1000);
  const details = () => subject.details(latest);
  const textOf = () =>
    mode === "json" ? JSON.stringify({ type: "progress", ...state() }) : plainLine(state(), details());
  const writeLines = () => {
    const timer = setInterval(() => process.stderr.write(`${textOf()}\n`), mode === "json" ? jsonPause : plainPause);
    return () => clearInterval(timer);
  };
  const stop = mode === "auto" ? drawLine(subject, state, details) : writeLines();
  return {
    update(progress) {
      latest = progress;
    },
    stop,
  };
}

export type ProgressState = ReturnType<typeof stateOf>;

function stateOf({ rows, rowsRead, units, statuses }: RunProgress, read: number | undefined, seconds: number) {
  const share = read === undefined || rowsRead === 0 ? null : Math.min(1, (read * rows) / rowsRead);
  const { charged, cached } = units();
  const counts = { units: charged, cached, statuses: Object.fromEntries(statuses()) };
  return { rows, share, seconds: Math.round(seconds * 10) / 10, ...counts };
}

const none = { charged: 0, cached: 0 };

const plainLine = ({ rows, share, seconds }: ProgressState, details: readonly string[]): string =>
  `idv: ${counted(rows, "row")}${share === null ? "" : `, ${Math.floor(100 * share)} %`}, ${[`${grouped(Math.round(seconds))} s`, ...details].join(", ")}`;

function drawLine({ heading }: ProgressSubject, state: () => ProgressState, details: () => readonly string[]) {
  let end = () => {};
  const timer = setTimeout(async () => {
    let ended = false;
    end = () => {
      ended = true;
    };
    const [{ default: ora }, chalk] = await Promise.all([import("ora"), colours(process.stderr, process.env)]);
    if (ended) return;
    const isUnicode = isUnicodeLocale(process.env, process.platform);
    const text = () => {
      const columns = process.stderr.columns - 3;
      const lines = [heading, details().join(isUnicode ? " · " : ", ")].map((line) =>
        printable(line).slice(0, columns),
      );
      lines.splice(1, 0, progressLine(state(), { columns, isUnicode, chalk }));
      // Terminals differ in whether they wrap the line of the cursor; it is empty here.
      return `${lines.filter((line) => line !== "").join("\n")}\n`;
    };
    // Taken before ora replaces it by one that draws a frame after each text.
    const write = process.stderr.write.bind(process.stderr);
    const looks = {
      ...(!isUnicode && { spinner: "line" as const }),
      ...(chalk === undefined && { color: false as const }),
    };
    const spinner = ora({ text: text(), stream: process.stderr, discardStdin: false, ...looks }).start();
    const redraw = setInterval(() => {
      spinner.text = text();
    }, terminalPause);
    const redrawResized = () => {
      if (wrapsLines(process.env)) write(eraseOf(wrappedLines(spinner.text, process.stderr.columns)));
      spinner.text = text();
      spinner.render();
    };
    process.stderr.on("resize", redrawResized);
    end = () => {
      clearInterval(redraw);
      process.stderr.off("resize", redrawResized);
      spinner.stop();
    };
  }, delay);
  return () => {
    clearTimeout(timer);
    end();
  };
}

/** Terminals that get narrower wrap what is on them, except for xterm and GNU screen, which cut it off. */
const wrapsLines = ({ XTERM_VERSION, STY }: NodeJS.ProcessEnv) => !XTERM_VERSION && !STY;

/** More lines that a text takes on a narrower terminal. ora erases as many as it has drawn. */
export const wrappedLines = (text: string, columns: number): number =>
  stripVTControlCharacters(`- ${text}`)
    .split("\n")
    .reduce((sum, { length }) => sum + Math.max(0, Math.ceil(length / columns) - 1), 0);

const eraseOf = (lines: number) => `\r${"\u001b[2K\u001b[A".repeat(lines)}`;

export function progressLine({ rows, share, seconds, statuses }: ProgressState, style: TerminalStyle): string {
  const { columns, isUnicode, chalk } = style;
  const rate = seconds === 0 ? 0 : Math.round(rows / seconds);
  const isTelling = share !== null && share > 0.01;
  const width = 20;
  const bar = barOf(share ?? 0, width, isUnicode);
  const parts = [
    ...(share === null || columns < 60 ? [] : [bar + (isUnicode ? "░" : ".").repeat(width - bar.length)]),
    ...(share === null ? [] : [`${Math.floor(100 * share)} %`]),
    isTelling ? `${short(rows)} of ~${short(Math.round(rows / share))} rows` : `${short(rows)} rows`,
    `${grouped(rate)}/s`,
    ...(isTelling ? [`${grouped(Math.ceil((seconds * (1 - share)) / share))} s left`] : []),
  ];
  const coloured = Object.entries(statuses).map(([status, count]) => {
    const text = `${printable(status)} ${short(count)}`;
    return [text, statusColour(chalk, status)(text)] as const;
  });
  let line = "";
  let room = columns;
  for (const [text, shown] of [...parts.map((part) => [part, part] as const), ...coloured]) {
    room -= text.length + 2;
    if (room < 0) break;
    line += line === "" ? shown : `  ${shown}`;
  }
  return line;
}

function short(count: number): string {
  if (count < 10_000) return grouped(count);
  if (count < 999_500) return `${Math.round(count / 1000)} k`;
  return `${(count / 1e6).toFixed(count < 99_950_000 ? 1 : 0)} M`;
}
