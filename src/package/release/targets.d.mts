/** Path of the binary of a target; by default, of this machine's. */
export function binaryOf(target?: string): string;
/** Unpacks a package of npm into a folder. */
export function unpack(tarball: string, folder: string): Promise<void>;
