/** What the browser build puts in the place of package/own-files: tables and kernel, which the page passes in. */
import type { BuiltFile } from "../../../package/own-files.js";

const files = new Map<BuiltFile, Uint8Array<ArrayBuffer>>();

export function provideBuilt(name: BuiltFile, bytes: Uint8Array<ArrayBuffer>): void {
  files.set(name, bytes);
}

export function readBuilt(name: BuiltFile): Uint8Array<ArrayBuffer> {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`no ${name}: await loadTables() first`);
  return bytes;
}
