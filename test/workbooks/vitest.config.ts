/** The workbooks that come back, opened in LibreOffice: `npm run check:workbooks`. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    include: ["test/workbooks/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
});
