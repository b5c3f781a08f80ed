// npm run build:action
//
// Makes dist/github-action, which the release puts into a branch of its own: action.yml and what it runs, with all that npm would
// install, since a runner installs nothing. Needs `npm run build:packages`.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseTarGzip } from "nanotar";
import { root } from "./targets.mjs";

const folder = join(root, "dist/github-action");
rmSync(folder, { recursive: true, force: true });

/** Unpacks a package of dist/packages. */
async function unpack(name, to) {
  for (const { name: path, data } of await parseTarGzip(readFileSync(join(root, "dist/packages", name)))) {
    const target = join(to, path.replace(/^package\//, ""));
    mkdirSync(dirname(target), { recursive: true });
    if (data) writeFileSync(target, data);
  }
}

for (const name of readdirSync(join(root, "dist/packages"))) {
  const [, platform] = /^idv-native-(.*)-\d/.exec(name) ?? [];
  await unpack(
    name,
    platform === undefined ? folder : join(folder, "node_modules/@idv", `native-${platform}`),
  );
}
cpSync(join(root, "node_modules/undici"), join(folder, "node_modules/undici"), {
  recursive: true,
  filter: (path) => !/undici\/(?:docs|types|scripts)$/.test(path),
});
cpSync(join(root, "action.yml"), join(folder, "action.yml"));
