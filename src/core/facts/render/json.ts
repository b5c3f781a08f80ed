/** The report as JSON, and the facts in any report, with which its successor compares itself. */
import { factsVersion } from "../facts.js";
import type { Before, Facts } from "../facts-schema.js";

export const renderJson = (facts: Facts): string => `${JSON.stringify(facts, undefined, 2)}\n`;

/** Returns the facts as JSON that ends neither an element of a page nor a block of Markdown, and turns no text around. */
export const embeddedFacts = (facts: object): string =>
  JSON.stringify(facts).replace(
    /[<>&`\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** The line at the end of a PDF: readers look for its last mark in the last 1024 bytes. */
export function lineOfPdf(facts: Facts): string {
  const line = (before: object) => `\n% ${embeddedFacts(before)}\n`;
  const before = factsForNext(facts);
  return Buffer.byteLength(line(before)) < 900 ? line(before) : line({ ...before, inputs: [] });
}

/** What the next report compares itself with. */
export const factsForNext = ({ version, made, rows, empty, statuses, inputs }: Facts) => {
  return { version, made, rows, empty, statuses, inputs: inputs.map(({ name }) => ({ name })) };
};

const embedded = [
  /<script type="application\/json">([^<]*)<\/script>/,
  /<metadata>([^<]*)<\/metadata>/,
  /```json\n([^`]*)\n```/,
  /\n% (\{.*\})\n$/,
];

/** Returns what a report tells the one that replaces it; undefined if it is none of this version. Does not throw. */
export function beforeIn(report: string): Before | undefined {
  const text = embedded.map((pattern) => pattern.exec(report)?.[1]).find((found) => found !== undefined);
  try {
    const facts = JSON.parse(text ?? report) as Facts;
    if ("type" in facts) return undefined;
    const { version, made, inputs, rows, empty, statuses } = facts;
    const counts = [rows, empty, ...Object.values(statuses)];
    const isWhole = version === factsVersion && /^\d{4}-\d\d-\d\dT/.test(made) && counts.every(Number.isSafeInteger);
    return isWhole ? { made, rows, empty, statuses, inputs: inputs.map(({ name }) => String(name)) } : undefined;
  } catch {
    return undefined;
  }
}
