/**
 * Files that belong to idv: tables, the kernel, help topics, pages, threads. They lie beside the modules; in a program of a
 * single file they are a part of it, and its loader (bin/idv.js) finds them.
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

/** Left by the program's loader; the library has none. */
interface Loader {
  /** Of a program of a single file: returns a file by its path, which is one below that of the program; undefined if there is none. */
  readonly read?: (path: URL) => Uint8Array<ArrayBuffer> | undefined;
  /** Script that loads a module in a thread; its path is the argument. */
  readonly thread: string;
  /** Keeps the code that V8 has compiled so far for later runs of the command, if they lack some. */
  keepCode(): void;
  /** Before a run that takes seconds: has V8 optimise later. Modules that are loaded after it have no compiled code. */
  expectLongRun(): void;
}

const loader = Reflect.get(globalThis, Symbol.for("idv.loader")) as Loader | undefined;

/** @param path relative to a module. @throws Error when there is no such file */
export function readOwnFile(path: URL): Uint8Array<ArrayBuffer> {
  return loader?.read?.(path) ?? readFileSync(path);
}

/** Returns the path of a file that `npm run build` makes. The way to `dist` is the same from `src`, `dist` and the bundles. */
export const builtFile = (name: BuiltFile): URL => new URL(`../../dist/${name}`, import.meta.url);

/** @throws Error when there is no such file */
export const readBuilt = (name: BuiltFile): Uint8Array<ArrayBuffer> => readOwnFile(builtFile(name));

/** Whether this is a program of a single file. */
export const isBinary = loader?.read !== undefined;

/** Script that loads a module of the program in a thread. */
export const threadLoader = loader?.thread;

export const keepCode = (): void => loader?.keepCode();

export const expectLongRun = (): void => loader?.expectLongRun();
