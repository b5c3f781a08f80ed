/** Tables that cannot be read or written. Errors about files and the user's choices are in files/errors.ts. */
import { Fault, type FaultWords } from "../../fault.js";

interface TableFaultWords extends FaultWords {
  readonly excerpt?: { readonly line: number; readonly text: string } | undefined;
}

export class TableError extends Fault {
  override readonly name = "TableError";
  readonly excerpt: TableFaultWords["excerpt"];

  constructor(what: string, words: TableFaultWords = {}) {
    super(words.code ?? "table", what, words);
    this.excerpt = words.excerpt;
  }
}
