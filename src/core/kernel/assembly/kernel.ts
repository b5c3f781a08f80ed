// The kernel: the steps of an offline run for every row, in AssemblyScript. Addresses are offsets in the memory of
// layout.ts, unchecked: run/blocks/threads/block-memory.ts gives valid ones. Only distinct.ts grows its memory.

export {
  addAll,
  expect,
  get,
  giveStates,
  set,
  size,
  takeStates,
} from "./distinct";
export { countDomain, forgetCounts, itemsOf, topNames } from "./domains";
export {
  hashFields,
  hashHigh,
  hashText,
  judge,
  judgeList,
  useScratch,
} from "./judge";
export { fewestFields, lines, longest, mostFields, scan, strays } from "./scan";
export { write } from "./write";
