/**
 * The kernel: what an offline run does with every row, in WebAssembly. `npm run build` compiles this folder with
 * AssemblyScript, whose language is TypeScript with the types of WebAssembly. All addresses are places in the memory that
 * layout.ts describes. Nothing here allocates, and nothing checks addresses: kernel.ts does.
 */

export { addAll, expect, get, set, size } from "./distinct";
export { countDomain, hashHigh, hashText, judge, useScratch } from "./judge";
export { fewestFields, lines, longest, mostFields, scan } from "./scan";
export { write } from "./write";
