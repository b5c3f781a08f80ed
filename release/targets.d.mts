/** Path of the binary of a target; by default, of this machine's. */
export function binaryOf(target?: string): string;
