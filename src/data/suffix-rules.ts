/** The rules of the public suffix list, from the package `tldts`. Used by `npm run build` only. */
import { createRequire } from "node:module";
import type { SuffixRule } from "../classifier/suffix-table.js";

/**
 * The list as a graph, in which nodes are numbers. The edges of node `n` are those from `edgeStart[n]` up to, but not including,
 * `edgeStart[n + 1]`. An edge has a label and leads to the node of a longer name. Bit 0 of a node's flags is set for a rule of the
 * ICANN section, bit 1 for one of the private section.
 */
interface SuffixGraph {
  readonly nodeFlags: Uint8Array;
  readonly edgeStart: ArrayLike<number>;
  readonly edgeLength: ArrayLike<number>;
  readonly edgeChild: ArrayLike<number>;
  /** The labels of all edges, one after the other. */
  readonly labelText: string;
  readonly rulesRoot: number;
  readonly exceptionsRoot: number;
}

/** Returns all rules. tldts gives them away only through its data, whose form tests compare with its answers. */
export function readSuffixRules(): readonly SuffixRule[] {
  const graph = createRequire(import.meta.url)("tldts/dist/cjs/src/data/trie.js") as SuffixGraph;
  const { nodeFlags, edgeStart, edgeLength, edgeChild, labelText, rulesRoot, exceptionsRoot } = graph;
  const labels: string[] = [];
  for (let edge = 0, start = 0; edge < edgeLength.length; edge++) {
    labels.push(labelText.slice(start, start + edgeLength[edge]!));
    start += edgeLength[edge]!;
  }
  const rules: SuffixRule[] = [];
  const walk = (node: number, name: string, mark: string) => {
    const flags = nodeFlags[node]!;
    // Names in other scripts are in the list as A-labels too.
    if (flags !== 0 && /^[!-~]+$/.test(name)) rules.push({ rule: mark + name, isPrivate: flags === 2 });
    for (let edge = edgeStart[node]!; edge < edgeStart[node + 1]!; edge++) {
      walk(edgeChild[edge]!, name === "" ? labels[edge]! : `${labels[edge]}.${name}`, mark);
    }
  };
  walk(rulesRoot, "", "");
  walk(exceptionsRoot, "", "!");
  return rules;
}
