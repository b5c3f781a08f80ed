/** Takes a list out of the body of a request, also out of a form. */
import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable, Transform } from "node:stream";
import { readRest } from "../../lists/transfers.js";
import { Refusal } from "../../refusal.js";

/** Bytes among which a list has a line break or a NUL. */
const longestLine = 65_536;

/** Passes an upload on in another stream: the connection outlives a refusal. @throws Refusal when it breaks off */
export async function receive<Result>(upload: IncomingMessage, take: (content: Readable) => Promise<Result>) {
  const content = new PassThrough();
  // It may break off before it is read, or after it was refused.
  content.on("error", () => {});
  upload.once("close", () => {
    if (!upload.complete) content.destroy(new Refusal(400, "The list broke off; send it again."));
  });
  upload.pipe(content);
  try {
    return await take(content);
  } catch (error) {
    upload.unpipe(content);
    await readRest(upload);
    throw error;
  }
}

/** curl gives every body the type of forms: line breaks and NULs, which `-d` takes out, tell a file. @throws Refusal */
export function fileIn(content: Readable, type: string): Readable {
  if (/^multipart\//i.test(type)) throw isForm();
  const isNamedForm = /^application\/x-www-form-urlencoded\b/i.test(type);
  const list = fileParts(isNamedForm);
  // It may be refused before it is read.
  list.on("error", () => {});
  content.on("error", (error) => list.destroy(error));
  return content.pipe(list);
}

/** Not a generator: destroying one waits for the next part, which may never come. */
function fileParts(isNamedForm: boolean): Transform {
  let start: Buffer | undefined = Buffer.of();
  const orFault = (done: (error?: Error) => void, work: () => void) => {
    try {
      work();
      done();
    } catch (error) {
      done(error as Error);
    }
  };
  return new Transform({
    transform(part: Buffer, _, done) {
      orFault(done, () => {
        if (start === undefined) return void this.push(part);
        start = Buffer.concat([start, part]);
        const hasBreak = ["\n", "\r", "\0"].some((byte) => part.includes(byte));
        if (isNamedForm ? hasBreak : start.length >= longestFormStart) {
          this.push(checked(start));
          start = undefined;
        } else if (isNamedForm && start.length > longestLine) throw isOneLine();
      });
    },
    flush(done) {
      orFault(done, () => {
        if (start === undefined || start.length === 0) return;
        if (isNamedForm) throw isOneLine();
        this.push(checked(start));
      });
    },
  });
}

/** Bytes of the boundary and the fields of the first part. */
const longestFormStart = 1024;
const formStart = /^--[^\r\n]{1,70}\r?\n(?:content-[^\r\n]*\r?\n)*?content-disposition:\s*form-data/i;

/** Forms with parts are told by their start, whatever their type. */
function checked(start: Buffer): Buffer {
  if (formStart.test(start.toString("latin1", 0, longestFormStart))) throw isForm();
  return start;
}

/** As `curl -d` sends a file: without its line breaks, in which entries would run into each other. */
const isOneLine = (): Refusal =>
  new Refusal(
    415,
    "The body is a form, or a list without line breaks: send a file with curl --data-binary @list.csv, and one line with -H 'Content-Type: text/csv'.",
  );

const isForm = (): Refusal =>
  new Refusal(415, "The body is a form, not a list; send the file as it is: curl --data-binary @list.csv.");
