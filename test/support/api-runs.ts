/** Support for runs with a key against `idv serve`: a service for a test file, lists, and a forwarding server. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { idv } from "./run-idv.js";
import type { Outcome } from "./run-settings.js";
import { listen } from "./scripted-server.js";
import { type Service, serve } from "./service.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Starts a service for the tests of a file. Its state is in `serviceHome`. */
export function useService() {
  const serviceHome = temporaryFolder();
  let started: Service | undefined;
  beforeAll(async () => {
    started = await serve(serviceHome, "-q");
  });
  const service = {
    get url(): string {
      return started!.url;
    },
  };
  /** Runs idv with a key for the service. */
  async function withKey(
    home: string,
    key: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const settings = { home, env: { IDV_API_KEY: key, IDV_BASE_URL: service.url, ...env } };
    const outcome = await idv(args, settings);
    // The key is never printed.
    expect(outcome.stdout + outcome.stderr).not.toContain(key.slice(3));
    return outcome;
  }
  return { serviceHome, service, withKey };
}

/** Writes a list of distinct addresses to a home and returns the home. */
export function listOf(count: number, home = temporaryFolder()): string {
  const lines = Array.from({ length: count }, (_, i) => `ann${i}@larch-and-oak.com`);
  writeFileSync(join(home, "list.csv"), `email\n${lines.join("\n")}\n`);
  return home;
}

/** The output file of a run. */
export const output = (home: string): string => readFileSync(join(home, "out.csv"), "utf8");

/** Counts the statuses in the last column of a table. */
export function statuses(table: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const row of table.trimEnd().split("\n").slice(1)) {
    const status = row.slice(row.lastIndexOf(",") + 1);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** Passes an answer on to the client. */
export function passOn(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  answer.pipe(response);
}

/** Sends a request on to a URL, and hands over its answer. */
export function sendOn(
  request: IncomingMessage,
  url: string,
  onAnswer: (answer: IncomingMessage) => void,
  headers = request.headers,
): void {
  request.pipe(httpRequest(url, { method: "POST", headers }, onAnswer));
}

/** Starts a server that forwards requests to a service; `onAnswer` decides about each answer. */
export function forwardTo(
  serviceUrl: string,
  onAnswer: (answer: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  return listen(
    createServer((request, response) => {
      sendOn(request, `${serviceUrl}${request.url}`, (answer) => onAnswer(answer, response));
    }),
  );
}
