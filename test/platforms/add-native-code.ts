/** Adds the packages with native code for other platforms to the installed package: npm installs them only there. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpack } from "../../release/targets.mjs";

export async function setup(): Promise<void> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const folder = join(dirname(process.env["IDV_TEST_PROGRAM"]!), "../../@idv");
  for (const platform of ["win32-x64", "linux-arm64"]) {
    const tarball = join(root, `dist/packages/idv-native-${platform}-${version}.tgz`);
    await unpack(tarball, join(folder, `native-${platform}`));
  }
}
