/** Messages in the answers of a service, made safe to show and to log. */

/**
 * Returns the message of an error answer, cut to 200 characters, with a colon in front; empty if there is none. Removes
 * the key and addresses, which some services repeat.
 */
export function messageIn(body: string | undefined, key: string): string {
  const text = textIn(body ?? "")
    .replaceAll(key, "[key]")
    .replaceAll(encodeURIComponent(key), "[key]")
    // A body may be long, and the search for addresses takes quadratic time. Cut only now: a part of a key would not be
    // recognised.
    .slice(0, 2000)
    .replace(/[^\s"'<>()[\],;:=]+(?:@|%40)[^\s"'<>()[\],;:=]+/g, "[address]")
    .trim()
    .slice(0, 200);
  return text === "" ? "" : `: ${text}`;
}

/** Returns plain text, or a field of a JSON object (`message` in the interface document). Ignores HTML. */
function textIn(body: string): string {
  try {
    const { message, error, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return String([message, error, detail].find((field) => typeof field === "string") ?? "");
  } catch {
    return body.trimStart().startsWith("<") ? "" : body;
  }
}
