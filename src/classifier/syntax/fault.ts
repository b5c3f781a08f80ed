/** What is wrong with the syntax of an item, and where. */
export class Fault {
  /**
   * @param what a short phrase: `two dots in a row`
   * @param position the character it was found at, counted from 1 in UTF-16 units of the item in NFC
   */
  constructor(
    readonly what: string,
    readonly position: number,
  ) {}

  /** The reason code with its subject: `syntax: two dots in a row at 5`. */
  get reason(): string {
    return `syntax: ${this.what} at ${this.position}`;
  }
}
