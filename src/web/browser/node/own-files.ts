/** What the browser build puts in the place of package/own-files: the page passes in tables and kernel. */
import type { BuiltFile } from "../../../package/own-files.js";

export function readBuilt(name: BuiltFile): Uint8Array<ArrayBuffer> {
  throw new Error(`no ${name}: await loadTables() first`);
}
