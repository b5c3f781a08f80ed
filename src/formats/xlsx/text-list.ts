/** The texts that cells share, in little memory: a million strings would take several times their length. */
import { mostCharacters, SheetFault } from "./sheet.js";
import { dereferenced, eachEvent, unescapeText } from "./xml.js";

/** A block holds the longest text, 1 MiB of characters in UTF-8. A power of two, so that starts fit 32 bits. */
const blockBits = 22;
const blockBytes = 2 ** blockBits;

export class TextList {
  length = 0;
  readonly #blocks: Buffer[] = [];
  #used = blockBytes;
  /** The start is the number of the block and the offset there. */
  #starts = new Uint32Array(1024);
  #lengths = new Uint32Array(1024);

  add(text: string): void {
    const most = 3 * text.length;
    if (blockBytes - this.#used < most && blockBytes - this.#used < Buffer.byteLength(text)) {
      this.#blocks.push(Buffer.allocUnsafeSlow(blockBytes));
      this.#used = 0;
    }
    if (this.length === this.#starts.length) {
      this.#starts = doubled(this.#starts);
      this.#lengths = doubled(this.#lengths);
    }
    const length = this.#blocks.at(-1)?.write(text, this.#used) ?? 0;
    this.#starts[this.length] = ((this.#blocks.length - 1) << blockBits) + this.#used;
    this.#lengths[this.length++] = length;
    this.#used += length;
  }

  at(index: number): string | undefined {
    const at = this.#starts[index];
    const length = this.#lengths[index];
    if (at === undefined || index >= this.length) return undefined;
    if (length === 0) return "";
    const start = at & (blockBytes - 1);
    return this.#blocks[at >>> blockBits]!.toString("utf8", start, start + length!);
  }
}

function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

const usualText = /<si><t(?: xml:space="preserve")?>([^<]*)<\/t><\/si>\s*/y;

export async function readTexts(bytes: AsyncIterable<Uint8Array> | undefined): Promise<TextList> {
  const texts = new TextList();
  let text = "";
  let isText = false;
  let isHint = false;
  await eachEvent(bytes, (xml, event) => {
    if (event === "text") {
      if (isText) text += xml.text;
      if (text.length > mostCharacters) throw new SheetFault("a text of its cells is over 1 MiB");
    } else if (xml.name === "t") isText = event === "open" && !isHint;
    else if (xml.name === "rPh") isHint = event === "open";
    else if (xml.name === "si" && event === "close") {
      texts.add(unescapeText(text));
      text = "";
      xml.takeUsual(usualText, ([, usual = ""]) => texts.add(unescapeText(dereferenced(usual))));
    }
  });
  return texts;
}
