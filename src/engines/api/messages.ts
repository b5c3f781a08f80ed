/** Messages in the answers of a service, made safe to show and to log. */
import { parsedJson } from "../../core/table/json/json-values.js";

const longest = 500;

/** Returns the message of an error answer after a colon, without the key and addresses, which some services repeat. */
export function messageIn(body: string | undefined, key: string): string {
  const text = textIn(body ?? "")
    .replaceAll(key, "[key]")
    .replaceAll(encodeURIComponent(key), "[key]")
    // The search for addresses takes quadratic time. Cut only now: a part of a key would not be recognised.
    .slice(0, 2000)
    .replace(/[^\s"'<>()[\],;:=]+(?:@|%40)[^\s"'<>()[\],;:=]+/g, "[address]")
    .trim()
    .slice(0, longest)
    .replace(/(?<!\.)\.$/, "");
  return text === "" ? "" : `: ${text}`;
}

function textIn(body: string): string {
  const value = parsedJson(body);
  if (value === undefined) return isMarkup(body) ? "" : body;
  return messageOf(value) ?? "";
}

const isMarkup = (body: string): boolean => body.trimStart().startsWith("<");

/** `error.message` and `detail[].msg`, of FastAPI, are not in the interface document. */
function messageOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth === deepest) return undefined;
  if (Array.isArray(value)) {
    const texts = value.slice(0, mostListed).map((each) => messageOf(each, depth + 1));
    return texts.filter((text) => text !== undefined).join("; ") || undefined;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of ["message", "error", "detail", "errors", "msg", "title", "description", "error_description"]) {
    const text = messageOf(members[name], depth + 1);
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

const deepest = 4;
const mostListed = 5;

export function limitIn(body: string | undefined): "quota" | "rate" | undefined {
  const value = parsedJson(body ?? "");
  if (typeof value !== "object" || value === null) return isMarkup(body ?? "") ? "rate" : undefined;
  const { code, error } = value as Readonly<Record<string, unknown>>;
  const own = typeof error === "object" && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
  const codes = [code, own["code"], own["type"]].filter((each) => typeof each === "string").join(" ");
  if (/quota_?(?:exhausted|exceeded)|insufficient/i.test(codes)) return "quota";
  if (/rate_?limit|throttl|too_?many/i.test(codes)) return "rate";
  const message = messageOf(value);
  if (message === undefined) return undefined;
  return /slow|rate.?limit|throttl|too many requests|too fast|per (?:second|minute)/i.test(message) ? "rate" : "quota";
}
