/**
 * The tests, in projects: `unit`, `integration` and `program`, and those that need tools that a machine may not have, or what a release builds, which
 * take part only when a project is named: `npm run vitest -- run --project engines`.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));
/** What every project shares. Time limits end tests that hang. They measure nothing: machines are slow at times. */
const shared = {
  root,
  // A worker keeps the modules that it has loaded. No test changes them, or the environment for longer than it runs.
  isolate: false,
  // Ends and removes what a file of tests has left.
  setupFiles: ["test/support/setup.ts"],
  // Five times what the slowest test takes on a machine with sixteen busy processes.
  testTimeout: 600_000,
  // Processes and folders of a file of tests are ended and removed in hooks.
  hookTimeout: 300_000,
  // What a test waits for comes late on a loaded machine.
  expect: { poll: { timeout: 120_000 } },
};
const include = (name: string) => [`test/${name}/**/*.test.ts`];
/** Projects with a folder each, and what is made before their tests. One file at a time: they start clusters and emulators. */
const folders = {
  // With schedulers, engines and file systems that Debian has. They install nothing.
  engines: [],
  // The package and binaries under Windows (Wine) and on arm64 (QEMU), and the package with Bun and Deno. Fetches the runtimes from
  // npm, some 500 MB, into node_modules/.cache; Debian has the two emulators.
  platforms: ["test/support/install-package.ts", "test/platforms/add-native-code.ts"],
  // What a release has besides packages and binaries.
  release: ["test/support/unpack-browser.ts", "test/support/build-binary.ts"],
  // Workbooks that come back, opened in LibreOffice.
  workbooks: [],
};
/** Folders of tests that need servers, states or whole commands, in the processes of the tests. */
const integrated = ["cli", "deploy", "dns", "lists", "service", "state"];
const others = [
  // The program as the binary of this machine, without the tests of the package and of scripts that run it.
  {
    test: {
      ...shared,
      name: "binary",
      include: include("program"),
      exclude: ["test/program/package/package.test.ts", "test/program/several/chaos.test.ts"],
      globalSetup: ["test/support/unpack-browser.ts", "test/support/copy-binary.ts"],
    },
  },
  ...Object.entries(folders).map(([name, globalSetup]) => ({
    test: { ...shared, name, include: include(name), globalSetup, maxWorkers: 1 },
  })),
];
const isNamed = process.argv.some((argument) => argument.startsWith("--project"));

export default defineConfig(({ mode }) => {
  // The workers inherit it; see test/support/tier.ts.
  if (mode === "all") process.env["IDV_TEST_TIER"] = "full";
  return {
    root,
    test: {
      // Not more than there are cores in a small machine: four workers on two cores took half as much processor time again.
      maxWorkers: 2,
      projects: [
        // The parts, on the sources; the folders are those of src.
        {
          test: {
            ...shared,
            name: "unit",
            include: ["test/**/*.test.ts"],
            exclude: ["**/node_modules/**", ...[...integrated, "program", ...Object.keys(folders)].flatMap(include)],
          },
        },
        { test: { ...shared, name: "integration", include: integrated.flatMap(include) } },
        // The built program, run as a user runs it.
        {
          test: {
            ...shared,
            name: "program",
            include: include("program"),
            globalSetup: ["test/support/unpack-browser.ts", "test/support/install-package.ts"],
          },
        },
        ...(isNamed ? others : []),
      ],
    },
  };
});
