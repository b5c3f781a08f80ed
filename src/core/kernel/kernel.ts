// The kernel for JavaScript; knows nothing of threads. It is WebAssembly because it looks at 16 bytes at a time and all
// threads share its memory: without it, a long list takes five times the processor time. It comes compiled.
import { createHash } from "node:crypto";
import { readBuilt } from "../../package/own-files.js";
import { atSign, quote as doubleQuote } from "../ascii.js";
import type { Classifier } from "../classifier/classifier.js";
import type { ItemHash } from "../classifier/tables/item-hash.js";
import type { Kind } from "../classifier/verdict.js";
import type { ScannedRecords, ScanShape } from "../table/scan/scanner.js";
import * as layout from "./layout.js";
import { factsOf, writeTables } from "./tables.js";

let compiled: WebAssembly.Module | undefined;

/** Returns the module, which threads share. @throws WebAssembly.CompileError when the processor has no SIMD */
export function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readBuilt("kernel/kernel.wasm"));
  return compiled;
}

/** For browsers, which compile large modules asynchronously. */
export function useKernel(module: WebAssembly.Module): void {
  compiled = module;
}

const pageBytes = 65_536;
/** The most memory that WebAssembly can address: reserved, but not used. */
const addressable = 65_536 * pageBytes;

/** Reserves 10 GB of addresses, but uses only touched pages. @throws RangeError when it cannot, as under `ulimit -v` */
export function newMemory(bytes: number, mostBytes = addressable): WebAssembly.Memory {
  const initial = Math.ceil(bytes / pageBytes);
  const maximum = Math.floor(mostBytes / pageBytes);
  return new WebAssembly.Memory({ initial, maximum, shared: true });
}

/** Returns shared memory of at least `bytes`. Browsers hide the constructor of it from most pages, but not this way. */
export function sharedBytes(bytes: number): SharedArrayBuffer {
  const pages = Math.ceil(bytes / pageBytes);
  const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return buffer as unknown as SharedArrayBuffer;
}

/** Returns the result of `open`; undefined where the kernel cannot run and JavaScript takes its place. */
export function withKernel<Opened>(open: (module: WebAssembly.Module) => Opened): Opened | undefined {
  try {
    return open(kernelModule());
  } catch (error) {
    if (error instanceof RangeError || error instanceof WebAssembly.CompileError) return undefined;
    throw error;
  }
}

export interface KernelSettings {
  readonly shape: ScanShape;
  readonly width: number;
  /** Byte that pads a short row by one field; 0 if more than one byte is needed. */
  readonly padding: number;
  readonly seed: Int32Array;
  readonly columns: number;
  /** Whether an item is in a JSON string: then the table has no quotes of its own. */
  readonly isJson?: boolean;
  readonly tails: readonly Uint8Array[];
  readonly shard?: { readonly index: number; readonly count: number } | undefined;
}

/** Writes tables and settings into the memory of a run, before any thread uses it. */
export function prepareMemory(memory: WebAssembly.Memory, settings: KernelSettings): void {
  const { shape, width, padding, seed, columns, isJson = false, tails, shard = { index: 1, count: 1 } } = settings;
  writeTables(memory.buffer);
  const words = new Int32Array(memory.buffer, layout.settings, layout.settingsWords);
  words[layout.delimiterWord] = byteOrNone(shape.delimiter);
  words[layout.quoteWord] = byteOrNone(shape.quote === undefined ? doubleQuote : shape.quote);
  words[layout.itemQuoteWord] = isJson ? doubleQuote : words[layout.quoteWord]!;
  words[layout.escapeWord] = byteOrNone(shape.escape);
  words[layout.skipsSpacesWord] = Number(shape.skipsSpaces ?? false);
  words[layout.commentWord] = byteOrNone(shape.comment);
  words[layout.columnsWord] = columns;
  words[layout.widthWord] = width;
  words[layout.paddingWord] = padding;
  words[layout.shardWord] = shard.index - 1;
  words[layout.shardsWord] = shard.count;
  words.set(seed, layout.seedWord);
  if (!Kernel.takes(tails)) return;
  for (const [code, tail] of tails.entries()) {
    const start = layout.tails + code * layout.tailBytes;
    new DataView(memory.buffer, start).setUint32(0, tail.length, true);
    new Uint8Array(memory.buffer, start + 4).set(tail);
  }
}

const noByte = 256;
const byteOrNone = (byte: number | undefined): number => (byte === undefined || Number.isNaN(byte) ? noByte : byte);

function shortened(key: string): Buffer {
  const bytes = Buffer.from(key);
  return bytes.length > layout.mostText ? createHash("sha256").update(bytes).digest() : bytes;
}

/** Records in a block, by their numbers at `at`. */
type Records = [block: number, at: number, count: number];

interface Exports extends Record<Totals, { readonly value: number }> {
  scan(block: number, length: number, at: number, most: number, column: number): number;
  judge(
    ...args: [isEmail: boolean, ...of: Records, codes: number, hashes: number, domains: number, counts: boolean]
  ): void;
  write(...args: [...of: Records, codes: number, out: number, room: number, ends: number]): number;
  judgeList(...args: [start: number, end: number, codes: number, hashes: number, counts: boolean]): number;
  hashFields(block: number, at: number, count: number, to: number): void;
  hashText(start: number, domain: number, end: number): number;
  hashHigh(): number;
  countDomain(start: number, end: number, items: number): void;
  forgetCounts(): void;
  topNames(to: number, most: number): number;
  itemsOf(name: number): number;
  useScratch(address: number): void;
}

type Totals = "mostFields" | "fewestFields" | "longest" | "lines" | "strays";

export type DomainCount = { readonly domain: string; readonly items: number };

/** For one thread. Addresses are offsets in the memory. */
export class Kernel {
  readonly #memory: WebAssembly.Memory;
  readonly #exports: Exports;
  readonly #isEmail: boolean;
  readonly #text: Buffer;

  /** `scratch` has `scratchBytes` for this thread. Without `classifier`, all domains pass. */
  constructor(
    module: WebAssembly.Module,
    memory: WebAssembly.Memory,
    scratch: number,
    classifier: Classifier | undefined,
    kind: Kind,
  ) {
    const bytes = Buffer.from(memory.buffer);
    const domains = {
      factsOf: (start: number, end: number) => {
        return factsOf(classifier, kind, bytes.toString("utf8", start, end).toLowerCase());
      },
    };
    this.#memory = memory;
    this.#exports = new WebAssembly.Instance(module, { env: { memory }, domains }).exports as unknown as Exports;
    this.#isEmail = kind === "email";
    this.#exports.useScratch(scratch);
    this.#text = bytes.subarray(scratch + layout.textAt, scratch + layout.textAt + layout.mostText);
  }

  hash(key: string): ItemHash {
    const text = this.#text;
    // UTF-8 has at most three bytes a unit.
    const isShort = 3 * key.length <= layout.mostText;
    const length = isShort ? text.write(key) : shortened(key).copy(text);
    const domain = text.subarray(0, length).lastIndexOf(atSign) + 1;
    const start = text.byteOffset;
    const low = this.#exports.hashText(start, start + domain, start + length);
    return { low, high: this.#exports.hashHigh() };
  }

  countDomain(domain: string, items: number): void {
    const start = this.#text.byteOffset;
    this.#exports.countDomain(start, start + this.#text.write(domain), items);
  }

  forgetCounts(): void {
    this.#exports.forgetCounts();
  }

  /**
   * Returns the disposable domains with the most items, at most `most`; no other thread may be at work. Counts are approximate
   * above about 100,000 domains, where one may replace another and its count.
   */
  topDomains(most: number): DomainCount[] {
    const to = this.#text.byteOffset;
    const found = this.#exports.topNames(to, most);
    return Array.from(new Uint32Array(this.#memory.buffer, to, found), (name) => {
      const start = name + layout.nameHead;
      const length = new Uint8Array(this.#memory.buffer, start - 1, 1)[0]!;
      const domain = Buffer.from(this.#memory.buffer, start, length).toString("latin1");
      return { domain, items: this.#exports.itemsOf(name) };
    });
  }

  static takes(tails: readonly Uint8Array[]): boolean {
    return (
      tails.length > 0 &&
      tails.length <= layout.mostTails &&
      tails.every(({ length }) => length <= layout.tailBytes - 4)
    );
  }

  scan(block: number, length: number, at: number, most: number, column: number): ScannedRecords | undefined {
    const count = this.#exports.scan(block, length, at, most, column);
    if (count === -1) return undefined;
    const { mostFields, fewestFields, longest, lines, strays } = this.#exports;
    const records = new Int32Array(this.#memory.buffer, at, layout.recordWords * count);
    const fields = { mostFields: mostFields.value, fewestFields: fewestFields.value };
    const found = { ...fields, at: records, count, longest: longest.value, lines: lines.value, strays: strays.value };
    return { ...found, consumed: length, openField: 0, isQuoteOpen: false };
  }

  /** `to.domains`: 0 if the words about domains are not wanted. */
  judge(block: number, at: number, count: number, to: Record<"codes" | "hashes" | "domains", number>, counts = true) {
    this.#exports.judge(this.#isEmail, block, at, count, to.codes, to.hashes, to.domains, counts);
  }

  judgeList(...parameters: Parameters<Exports["judgeList"]>): number {
    return this.#exports.judgeList(...parameters);
  }

  hashFields(block: number, at: number, count: number, to: number): void {
    this.#exports.hashFields(block, at, count, to);
  }

  write(...parameters: Parameters<Exports["write"]>): number {
    return this.#exports.write(...parameters);
  }
}
