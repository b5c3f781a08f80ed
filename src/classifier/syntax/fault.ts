/** Syntax faults. Parsers return them instead of throwing. */
/** A syntax fault of an item and its position. */
export class Fault {
  /**
   * @param what a short phrase: `two dots in a row`
   * @param position position of the character at fault, counted from 1 in UTF-16 units of the item in NFC
   */
  constructor(
    readonly what: string,
    readonly position: number,
  ) {}

  /** Reason of the verdict: `syntax: two dots in a row at 5`. */
  get reason(): `syntax: ${string}` {
    return `syntax: ${this.what} at ${this.position}`;
  }
}
