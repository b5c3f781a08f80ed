/** What a release has besides the packages and binaries, made and tried: `npm run test:release`. Needs a build. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    include: ["test/release/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
