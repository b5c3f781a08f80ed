import type { Kind, Status } from "./validator.js";

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
