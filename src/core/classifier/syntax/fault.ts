/** A syntax fault of an item, which parsers return instead of throwing. */
export class Fault {
  /**
   * @param what a short phrase: `two dots in a row`
   * @param position of the character at fault, counted from 1 in UTF-16 units of the item in NFC
   */
  constructor(
    readonly what: string,
    readonly position: number,
  ) {}

  get reason(): `syntax: ${string}` {
    return `syntax: ${this.what} at ${this.position}`;
  }
}
