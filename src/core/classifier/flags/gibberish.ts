/** Tells mailboxes that people type to get past a form, such as `asdasd`. No name of a person is known to be one. */
import { keyboardRows } from "../rules/mailbox/placeholder.js";

const rows = [...keyboardRows, "abcdefghijklmnopqrstuvwxyz"];
export const runs = [...rows, ...rows.map((row) => [...row].reverse().join(""))].join("\n");
const isRun = (text: string, shortest: number) => text.length >= shortest && runs.includes(text);

const middleRow = /^[asdfghjkl]{4,}$/;
const partOfMiddleRow = /asd|sdf|dfg|fgh|ghj|hjk|jkl|dsa|fds|gfd|hgf|jhg|kjh|lkj/;
const oneLetter = /^(.)\1{3,}$/;
const repeated = /^([a-z]{2,4}?)\1+$/;
export const words: ReadonlySet<string> = new Set(
  (
    "blahblah bogus dontknow dummy fake fakeemail fakemail fakename foobar idontknow loremipsum noemail nomail none " +
    "nope nospam nothanks notreal nowhere null testest testtest yourmail youremail yourname"
  ).split(" "),
);

export function isGibberish(mailbox: string): boolean {
  const text = mailbox.replace(/[._-]|\d+$/g, "");
  if (words.has(text) || oneLetter.test(text) || isRun(text, 4)) return true;
  if (middleRow.test(text) && partOfMiddleRow.test(text)) return true;
  const unit = repeated.exec(text)?.[1];
  // Not `feifei` and `tingting`, which are names of people.
  return unit !== undefined && text.length >= 6 && (isRun(unit, 3) || !/[aeiouy]/.test(unit));
}
