/** Messages in the answers of a service, as they may be shown: without the key and addresses, which some services repeat. */

/**
 * Returns the message of an error answer, with a colon in front, or an empty string. It is cut to 200 characters. The key and
 * addresses, which some services repeat, are removed first: messages get into logs.
 */
export function messageIn(body: string | undefined, key: string): string {
  const text = textIn(body ?? "")
    // A body may be long, and the search for addresses takes the square of its length.
    .slice(0, 2000)
    .replaceAll(key, "[key]")
    .replaceAll(encodeURIComponent(key), "[key]")
    .replace(/[^\s"'<>()[\],;:=]+(?:@|%40)[^\s"'<>()[\],;:=]+/g, "[address]")
    .trim()
    .slice(0, 200);
  return text === "" ? "" : `: ${text}`;
}

/** Returns the message: plain text, or a field of a JSON object (`message` in the interface document). Ignores HTML. */
function textIn(body: string): string {
  try {
    const { message, error, detail } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return String([message, error, detail].find((field) => typeof field === "string") ?? "");
  } catch {
    return body.trimStart().startsWith("<") ? "" : body;
  }
}
