import type { Kind, Status } from "./validator.js";

/** The field of the interface document that holds items in requests and results in answers. */
export const fieldOf: Readonly<Record<Kind, string>> = { email: "emails", domain: "domains" };

/** A status that is longer is none. */
const maximumStatusLength = 64;

/** An answer that is not what the interface document says. */
export class Nonsense extends Error {}

/**
 * The statuses of the items in an answer. A key that comes back in another case or normal form still finds its item.
 *
 * @param body the text of the answer's body
 * @throws Nonsense that says what is wrong with it
 */
export function readAnswer(kind: Kind, items: readonly string[], body: string): Status[] {
  const results = resultsIn(kind, body);
  let likeness: ReadonlyMap<string, unknown> | undefined;
  return items.map((item, i) => {
    let result: unknown;
    if (Object.hasOwn(results, item)) result = results[item];
    else {
      likeness ??= new Map(Object.entries(results).map(([key, value]) => [folded(key), value]));
      result = likeness.get(folded(item));
    }
    if (result === undefined) throw new Nonsense(`it has no result for item ${i + 1} of ${items.length}`);
    const status = typeof result === "object" && result !== null && "status" in result && result.status;
    if (typeof status !== "string" || status === "") {
      throw new Nonsense(`the status of item ${i + 1} of ${items.length} is not a string`);
    }
    if (status.length > maximumStatusLength) {
      throw new Nonsense(`the status of item ${i + 1} of ${items.length} has ${status.length} characters`);
    }
    return status;
  });
}

function resultsIn(kind: Kind, body: string): Readonly<Record<string, unknown>> {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    throw new Nonsense("it is not JSON");
  }
  const field = fieldOf[kind];
  const results = isObject(answer) && Object.hasOwn(answer, field) ? answer[field] : undefined;
  if (!isObject(results)) throw new Nonsense(`it has no map "${field}"`);
  return results;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const folded = (key: string): string => key.trim().normalize("NFKC").toLowerCase();
