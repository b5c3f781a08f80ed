/** Reads the public suffix list out of the code of the package `tldts`, which is never run: it may be a download. */
import type { SuffixRule } from "../../core/classifier/tables/suffix-table.js";

export const suffixPackage = { name: "tldts", file: "dist/cjs/src/data/trie.js" } as const;

const mostLabels = 16;
const mostNodes = 500_000;

/**
 * The list is a graph: node `n` has the edges `edgeStart[n]` up to `edgeStart[n + 1]`, each with a label in
 * `labelText`. Flag 1 marks a rule of the ICANN section, 2 one of the private section. @throws Error when there is no
 * such graph
 */
export function suffixRulesIn(text: string): readonly SuffixRule[] {
  const numbers = (name: string) =>
    numbersIn(new RegExp(`exports\\.${name} = new Uint(?:8|16|32)Array\\((\\[[\\d,\\s]*\\])\\)`).exec(text)?.[1], name);
  const root = (name: string) => Number(new RegExp(`exports\\.${name} = (\\d+)\\b`).exec(text)?.[1] ?? Number.NaN);
  const nodeFlags = numbers("nodeFlags");
  const edgeStart = numbers("edgeStart");
  const edgeLength = numbers("edgeLength");
  const edgeChild = numbers("edgeChild");
  const labelText = /exports\.labelText = "([^"]*)"/.exec(text)?.[1];
  if (labelText === undefined) throw new Error("the labels of the suffixes are missing");
  const plainText = JSON.parse(`"${labelText}"`) as string;
  const labels: string[] = [];
  let start = 0;
  for (const length of edgeLength) {
    labels.push(plainText.slice(start, start + length));
    start += length;
  }
  const rules: SuffixRule[] = [];
  let visited = 0;
  const walk = (node: number, name: string, mark: string, depth: number) => {
    const flags = nodeFlags[node];
    if (flags === undefined || depth > mostLabels || ++visited > mostNodes) {
      throw new Error("the suffixes are no tree of names");
    }
    // Skip names in other scripts: the list also has their A-labels.
    if (flags !== 0 && /^[!-~]+$/.test(name)) rules.push({ rule: mark + name, isPrivate: flags === 2 });
    for (let edge = edgeStart[node]!; edge < edgeStart[node + 1]!; edge++) {
      walk(edgeChild[edge]!, name === "" ? labels[edge]! : `${labels[edge]}.${name}`, mark, depth + 1);
    }
  };
  walk(root("rulesRoot"), "", "", 0);
  walk(root("exceptionsRoot"), "", "!", 0);
  return rules;
}

function numbersIn(text: string | undefined, name: string): readonly number[] {
  if (text === undefined) throw new Error(`the suffixes have no ${name}`);
  return JSON.parse(text) as number[];
}
