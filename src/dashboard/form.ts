/** Reads the forms of the pages. */
import type { FastifyRequest } from "fastify";
import { PageFault } from "./page-fault.js";

/** In bytes; a hundred lines of the longest items fit. */
const mostFormBytes = 131_072;

/** @throws PageFault when the body is not a form, or too large */
export async function readForm(request: FastifyRequest): Promise<URLSearchParams> {
  if (!request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) {
    throw new PageFault(415, "This is not a form.");
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request.raw) {
    bytes += (part as Buffer).length;
    if (bytes > mostFormBytes) throw new PageFault(413, "The form is too large.");
    parts.push(part as Buffer);
  }
  return new URLSearchParams(Buffer.concat(parts).toString());
}

export const fieldOf = (form: URLSearchParams, name: string): string | undefined =>
  form.get(name)?.trim() || undefined;

/**
 * Returns undefined for an empty field.
 *
 * @throws PageFault if it is not a whole number
 */
export function numberOf(form: URLSearchParams, name: string, label: string): number | undefined {
  const text = fieldOf(form, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new PageFault(400, `${label}: give a whole number, or leave it empty.`);
  return Number(text);
}

/**
 * Returns the first choice for an empty field.
 *
 * @throws PageFault for another value
 */
export function choiceOf<Choice extends string>(
  form: URLSearchParams,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const text = fieldOf(form, name) ?? choices[0];
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new PageFault(400, `${name}: unknown choice.`);
  return found;
}
