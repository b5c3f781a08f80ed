/** The rules of the public suffix list, from the package `tldts`. Used by `npm run build` only. */
import { createRequire } from "node:module";
import type { SuffixRule } from "../classifier/suffix-table.js";

/**
 * The list as a graph whose nodes are numbers. The edges of node `n` are `edgeStart[n]` up to, but not including,
 * `edgeStart[n + 1]`. Each edge has a label and leads to the node of a longer name; `labelText` concatenates all
 * labels. Bit 0 of a node's flags marks a rule of the ICANN section, bit 1 one of the private section.
 */
interface SuffixGraph {
  readonly nodeFlags: Uint8Array;
  readonly edgeStart: ArrayLike<number>;
  readonly edgeLength: ArrayLike<number>;
  readonly edgeChild: ArrayLike<number>;
  readonly labelText: string;
  readonly rulesRoot: number;
  readonly exceptionsRoot: number;
}

/** Returns all rules. tldts exposes them only as internal data; tests compare the result with its public answers. */
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
    // Skip names in other scripts: the list also has their A-labels.
    if (flags !== 0 && /^[!-~]+$/.test(name)) rules.push({ rule: mark + name, isPrivate: flags === 2 });
    for (let edge = edgeStart[node]!; edge < edgeStart[node + 1]!; edge++) {
      walk(edgeChild[edge]!, name === "" ? labels[edge]! : `${labels[edge]}.${name}`, mark);
    }
  };
  walk(rulesRoot, "", "");
  walk(exceptionsRoot, "", "!");
  return rules;
}
