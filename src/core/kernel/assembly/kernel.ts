/**
 * The kernel: the steps of an offline run for every row, in WebAssembly. `npm run build` compiles this folder with
 * AssemblyScript, whose language is TypeScript with the types of WebAssembly. All addresses are offsets in the memory that
 * layout.ts describes. Nothing here checks them: run/blocks/block-memory.ts must give valid ones. Only distinct.ts grows its
 * memory.
 */

export {
  addAll,
  expect,
  get,
  giveStates,
  set,
  size,
  takeStates,
} from "./distinct";
export {
  countDomain,
  hashFields,
  hashHigh,
  hashText,
  judge,
  judgeList,
  readDomains,
  useScratch,
} from "./judge";
export { fewestFields, lines, longest, mostFields, scan, strays } from "./scan";
export { write } from "./write";
