/** The tests of the program, run with the single binary of this machine: `npm run test:binary`. Needs a build. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    maxWorkers: 4,
    isolate: false,
    setupFiles: ["test/support/setup.ts"],
    include: ["test/program/**/*.test.ts"],
    // Of the package, and of scripts that run it.
    exclude: ["test/program/package/package.test.ts", "test/program/several/chaos.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ["test/support/unpack-browser.ts", "test/binaries/copy-binary.ts"],
  },
});
