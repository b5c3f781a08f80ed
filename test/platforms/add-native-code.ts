/** Adds the packages with native code for other platforms to the installed package: npm installs them only there. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseTarGzip } from "nanotar";

export async function setup(): Promise<void> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  for (const platform of ["win32-x64", "linux-arm64"]) {
    const tarball = readFileSync(join(root, `dist/packages/idv-native-${platform}-${version}.tgz`));
    const folder = join(dirname(process.env["IDV_TEST_PROGRAM"]!), "../../@idv", `native-${platform}`);
    for (const { name, data } of await parseTarGzip(tarball)) {
      const path = join(folder, name.replace(/^package\//, ""));
      mkdirSync(dirname(path), { recursive: true });
      if (data) writeFileSync(path, data);
    }
  }
}
