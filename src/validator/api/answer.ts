import type { Kind, Status } from "../validator.js";

/** The field of the interface document that holds items in requests and results in answers. */
export const fieldOf: Readonly<Record<Kind, string>> = { email: "emails", domain: "domains" };

/** A status that is longer is none. */
const maximumStatusLength = 64;

/** What an answer says of the items that were asked about. */
export interface Results {
  /** Their statuses, in their order; undefined where it has none. */
  readonly statuses: readonly (Status | undefined)[];
  /** What is wrong with the answer, by the interface document. */
  readonly fault?: string;
}

/**
 * Reads the statuses of the items in an answer. A key that comes back in another case or normal form still finds its item.
 *
 * @param body the text of the answer's body; undefined when it was too long to be read
 */
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
          : "no string for the status of";
    fault ??= `${what} item ${i + 1} of ${items.length}`;
    return undefined;
  });
  return { statuses, ...(fault !== undefined && { fault }) };
}

/**
 * The statuses of an answer that has the items in their order, nothing else and no white space, as services mostly
 * answer: a fraction of the time that parsing takes, which makes a property of every item. Characters that JSON escapes do
 * not compare equal, and are left to the parser.
 *
 * @returns undefined where the answer is not so
 */
function readPlainAnswer(kind: Kind, items: readonly string[], body: string): Status[] | undefined {
  let at = 0;
  const skip = (text: string) => {
    if (!body.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  if (!skip(`{"${fieldOf[kind]}":{`)) return undefined;
  const statuses: Status[] = [];
  let status = "ok";
  for (const item of items) {
    if (!skip(statuses.length === 0 ? '"' : ',"') || !skip(item) || !skip('":{"status":"')) return undefined;
    // Most have the status of the one before.
    if (!body.startsWith(status, at) || body[at + status.length] !== '"') {
      status = /[a-z_]{0,64}/y.exec(body.slice(at, at + maximumStatusLength))?.[0] ?? "";
    }
    at += status.length;
    if (status === "" || !skip('"}')) return undefined;
    statuses.push(status);
  }
  return skip("}}") && at === body.length ? statuses : undefined;
}

/** The map of results, or what is wrong. */
function resultsIn(kind: Kind, body: string | undefined): Readonly<Record<string, unknown>> | string {
  if (body === undefined) return "it is far too long";
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return "it is not JSON";
  }
  const field = fieldOf[kind];
  const results = isObject(answer) && Object.hasOwn(answer, field) ? answer[field] : undefined;
  return isObject(results) ? results : `it has no map "${field}"`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const folded = (key: string): string => key.trim().normalize("NFKC").toLowerCase();
