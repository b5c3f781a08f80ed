/** Makes binaries for other platforms, and adds the packages with native code for them to the installed package: npm installs them only there. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpack } from "../../src/package/release/targets.mjs";
import { buildBinary } from "../support/build-binary.js";

export async function setup(): Promise<void> {
  for (const target of ["windows-x64", "linux-arm64"]) buildBinary(target);
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const folder = join(dirname(process.env["IDV_TEST_PROGRAM"]!), "../../@idv");
  for (const platform of ["win32-x64", "linux-arm64"]) {
    const tarball = join(root, `dist/packages/idv-native-${platform}-${version}.tgz`);
    await unpack(tarball, join(folder, `native-${platform}`));
  }
}
