/**
 * The package and single binaries under Windows (Wine) and on arm64 (QEMU), and the package with Bun and Deno:
 * `npm run test:platforms`. Needs a build. Fetches the runtimes from npm, some 500 MB, into node_modules/.cache; Debian has
 * the two emulators.
 */
import { defineConfig } from "vitest/config";

process.env["IDV_TEST_PACKAGE"] = "1";

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    globalSetup: ["test/support/install-package.ts", "test/platforms/add-native-code.ts"],
    include: ["test/platforms/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
