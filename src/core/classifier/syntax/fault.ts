/** A syntax fault of an item, which parsers return instead of throwing. */
export class Fault {
  /** `what` is a short phrase: `two dots in a row`. `position` counts UTF-16 units of the item in NFC, from 1. */
  constructor(
    readonly what: string,
    readonly position: number,
  ) {}

  get reason(): `syntax: ${string}` {
    return `syntax: ${this.what} at ${this.position}`;
  }
}
