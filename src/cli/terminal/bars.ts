/** Bars and colours for numbers of rows, as far as the terminal supports them. */
import type { ChalkInstance } from "chalk";

export interface TerminalStyle {
  readonly chalk: ChalkInstance | undefined;
  readonly columns: number;
  readonly isUnicode: boolean;
}

export function statusColour(chalk: ChalkInstance | undefined, status: string): (text: string) => string {
  const colours: Readonly<Record<string, ((text: string) => string) | undefined>> = {
    ok: chalk?.green,
    alias: chalk?.cyan,
    disposable: chalk?.yellow,
    fake: chalk?.red,
    quota_exceeded: chalk?.magenta,
  };
  return colours[status] ?? ((text) => text);
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export function barOf(share: number, width: number, isUnicode: boolean): string {
  if (share === 0) return "";
  if (!isUnicode) return "#".repeat(Math.max(1, Math.round(share * width)));
  const parts = Math.max(1, Math.round(share * width * 8));
  return "█".repeat(parts >> 3) + eighths[parts & 7]!;
}

export function isUnicodeLocale(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return platform === "win32" || /utf-?8/i.test(locale);
}
