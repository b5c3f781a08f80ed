/** Reads the forms of the pages. */
import type { FastifyRequest } from "fastify";
import { utcTime } from "../../time.js";
import { Refusal } from "../refusal.js";

/** Limit in bytes; a hundred lines of the longest items fit. */
export const mostFormBytes = 131_072;

export function formIn({ body }: FastifyRequest): URLSearchParams {
  if (body instanceof URLSearchParams) return body;
  throw new Refusal(415, "This is not a form.");
}

export const queryIn = ({ url }: FastifyRequest): URLSearchParams => new URL(url, "http://idv").searchParams;

export const fieldOf = (form: URLSearchParams, name: string): string | undefined => form.get(name)?.trim() || undefined;

/** Undefined for an empty field. @throws Refusal if it is not a whole number */
export function numberOf(form: URLSearchParams, name: string, label: string): number | undefined {
  const text = fieldOf(form, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new Refusal(400, `${label}: give a whole number, or leave it empty.`, { field: name });
  return Number(text);
}

/** The first choice for an empty field. @throws Refusal for another value */
export function choiceOf<Choice extends string>(
  form: URLSearchParams,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const text = fieldOf(form, name) ?? choices[0];
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new Refusal(400, `${name}: unknown choice.`);
  return found;
}

/** Start of a day in UTC, in milliseconds since the epoch. @throws Refusal when the text is not a day */
export function timeIn(text: string, label: string, field?: string): number {
  const time = text.length === 10 ? utcTime(text) : undefined;
  if (time === undefined) throw new Refusal(400, `${label}: give a day, such as 2026-11-22.`, { field });
  return time;
}
