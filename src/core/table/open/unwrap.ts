/** Removes the quotes around whole records: `"1,""Lee, Ann"",ann@example.net"`, as some programs write them. */
import { carriageReturn, lineFeed, quote } from "../../ascii.js";

const wrappedLines = /^(?:"(?:[^"\r\n]|"")*[\t|;,](?:[^"\r\n]|"")*"(?:\r\n|\r|\n)){2}/;

export const mayBeWrapped = (sample: Buffer): boolean => wrappedLines.test(sample.toString("latin1"));

export class Unwrapper {
  #state: "start" | "inside" | "quote" | "outside" = "start";

  unwrap(bytes: Uint8Array): Buffer {
    const out = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    for (let p = 0; p < bytes.length; ) {
      const byte = bytes[p];
      if (this.#state === "inside") {
        const at = bytes.indexOf(quote, p);
        const end = at === -1 ? bytes.length : at;
        out.set(bytes.subarray(p, end), length);
        length += end - p;
        if (at === -1) break;
        this.#state = "quote";
        p = at + 1;
      } else if (byte === quote && this.#state !== "outside") {
        if (this.#state === "quote") out[length++] = quote;
        this.#state = "inside";
        p++;
      } else {
        const from = p;
        while (p < bytes.length && bytes[p] !== lineFeed && bytes[p] !== carriageReturn) p++;
        this.#state = p < bytes.length ? "start" : "outside";
        p = Math.min(p + 1, bytes.length);
        out.set(bytes.subarray(from, p), length);
        length += p - from;
      }
    }
    return out.subarray(0, length);
  }
}

export async function* unwrapped(input: AsyncIterator<Uint8Array>, unwrapper: Unwrapper): AsyncGenerator<Uint8Array> {
  try {
    for (let read = await input.next(); !read.done; read = await input.next()) yield unwrapper.unwrap(read.value);
  } finally {
    await input.return?.();
  }
}
