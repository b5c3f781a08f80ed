/**
 * What has to be ended or removed after the tests of a file. Workers keep their modules, so an `afterAll` in one of them would
 * run after the first file only.
 */
const cleanUps: (() => unknown)[] = [];

/** Calls a function after the tests of the file, the last one first. */
export function afterFile(cleanUp: () => unknown): void {
  cleanUps.push(cleanUp);
}

/** Calls all of them. */
export async function cleanUpFile(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
}
