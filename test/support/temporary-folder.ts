/** Provides tests with temporary folders. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterFile } from "./clean-up.js";

/** Creates a temporary folder, which is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "idv-test-"));
  // Processes that were killed may still write for a moment.
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
}

/**
 * Returns a new folder with some files, by their paths.
 *
 * @param mode permissions of the files; the usual ones by default
 */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>, mode?: number): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
  }
  return folder;
}
