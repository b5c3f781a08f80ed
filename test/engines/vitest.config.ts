/** The tests with schedulers, engines and file systems that Debian has: `npm run test:engines`. They install nothing. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    include: ["test/engines/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
