/** Reads the statuses in the body of an answer. Knows nothing of HTTP, retries or the quota. */
import { isObject, parsedJson } from "../../core/table/json/json-values.js";
import type { Kind, Status } from "../../core/validator/validator.js";

/** Field with the items in requests and the results in answers, by the interface document. */
export const fieldOf: Readonly<Record<Kind, string>> = { email: "emails", domain: "domains" };

const maximumStatusLength = 64;

export type Results = { readonly statuses: readonly (Status | undefined)[]; readonly fault?: string };

/** Matches results by item, else by the trimmed item in NFKC and lower case. `body` is undefined if it was too long. */
export function readAnswer(kind: Kind, items: readonly string[], body: string | undefined): Results {
  const plain = body === undefined ? undefined : readPlainAnswer(kind, items, body);
  if (plain !== undefined) return { statuses: plain };
  const results = resultsIn(kind, body);
  if (typeof results === "string") return { statuses: items.map(() => undefined), fault: results };
  let likeness: ReadonlyMap<string, unknown> | undefined;
  let fault: string | undefined;
  const statuses = items.map((item, i) => {
    let result: unknown;
    if (Object.hasOwn(results, item)) result = results[item];
    else {
      likeness ??= new Map(Object.entries(results).map(([key, value]) => [folded(key), value]));
      result = likeness.get(folded(item));
    }
    const status = (isObject(result) && result["status"]) || undefined;
    if (typeof status === "string" && status.length <= maximumStatusLength) return status;
    const what =
      result === undefined
        ? "no result for"
        : typeof status === "string"
          ? `a status of ${status.length} characters for`
          : "no string as the status of";
    fault ??= `${what} item ${i + 1} of ${items.length}`;
    return undefined;
  });
  return { statuses, ...(fault !== undefined && { fault }) };
}

/** Reads the usual form of answers as text, without JSON.parse, which takes several times as long; else undefined. */
function readPlainAnswer(kind: Kind, items: readonly string[], body: string): Status[] | undefined {
  let at = indexAfter(`{"${fieldOf[kind]}":{`, body, 0);
  // Escaped items are left to JSON.parse.
  if (escaped.test(items.join(""))) return undefined;
  const statuses: Status[] = [];
  let status = "ok";
  for (const item of items) {
    at = indexAfter(statuses.length === 0 ? '"' : ',"', body, at);
    at = indexAfter(item, body, at);
    at = indexAfter('":{"status":"', body, at);
    if (at === -1) return undefined;
    if (!body.startsWith(status, at) || body[at + status.length] !== '"') {
      status = /[a-z_]{0,64}/y.exec(body.slice(at, at + maximumStatusLength))?.[0] ?? "";
    }
    at = indexAfter('"}', body, at + status.length);
    if (status === "" || at === -1) return undefined;
    statuses.push(status);
  }
  return indexAfter("}}", body, at) === body.length ? statuses : undefined;
}

const indexAfter = (text: string, body: string, at: number): number =>
  at !== -1 && body.startsWith(text, at) ? at + text.length : -1;

const escaped = /["\\\u0000-\u001f]/;

function resultsIn(kind: Kind, body: string | undefined): Readonly<Record<string, unknown>> | string {
  if (body === undefined) return "it is too long";
  const answer = parsedJson(body);
  if (answer === undefined) return "it is not JSON";
  const field = fieldOf[kind];
  const results = isObject(answer) && Object.hasOwn(answer, field) ? answer[field] : undefined;
  return isObject(results) ? results : `it has no map "${field}"`;
}

const folded = (key: string): string => key.trim().normalize("NFKC").toLowerCase();
