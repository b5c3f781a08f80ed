/**
 * Files that belong to idv: tables, the kernel, help topics, pages, threads. They lie beside the modules; in a program of a
 * single file they are a part of it, and its loader (src/package/release/binary) finds them.
 */
import { readFileSync } from "node:fs";

/** By its path below `dist`. */
export type BuiltFile =
  | "classifier/disposable.bin"
  | "classifier/small.bin"
  | "classifier/suffixes.bin"
  | "data/castle-days.tsv"
  | "data/popular.bin"
  | "help/topics.json"
  | "kernel/kernel.wasm"
  | "page/index.html"
  | "page/service-worker.js";

/** Left by the loader. */
interface Embedded {
  /** Returns a file by its path, which is one below that of the program; undefined if there is none. */
  read(path: URL): Uint8Array<ArrayBuffer> | undefined;
  /** Script that loads a module in a thread; its path is the argument. */
  readonly thread: string;
}

const embedded = Reflect.get(globalThis, Symbol.for("idv.embedded")) as Embedded | undefined;

/** @param path relative to a module. @throws Error when there is no such file */
export function readOwnFile(path: URL): Uint8Array<ArrayBuffer> {
  return embedded?.read(path) ?? readFileSync(path);
}

/** Returns the path of a file that `npm run build` makes. The way to `dist` is the same from `src`, `dist` and the bundles. */
export const builtFile = (name: BuiltFile): URL => new URL(`../../dist/${name}`, import.meta.url);

/** @throws Error when there is no such file */
export const readBuilt = (name: BuiltFile): Uint8Array<ArrayBuffer> => readOwnFile(builtFile(name));

/** Script that loads a module of a program of a single file in a thread. */
export const threadLoader = embedded?.thread;
