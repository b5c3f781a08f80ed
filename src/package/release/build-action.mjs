// node src/package/release/build-action.mjs
//
// Makes dist/github-action, which the release puts into tags of its own: action.yml and what it runs, with all that npm would
// install, since a runner installs nothing. Needs `node src/package/release/build-packages.mjs`.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, unpack } from "./targets.mjs";

const folder = join(root, "dist/github-action");
rmSync(folder, { recursive: true, force: true });

for (const name of readdirSync(join(root, "dist/packages"))) {
  const [, platform] = /^idv-native-(.*)-\d/.exec(name) ?? [];
  const place = platform === undefined ? "" : `node_modules/@idv/native-${platform}`;
  await unpack(join(root, "dist/packages", name), join(folder, place));
}
cpSync(join(root, "node_modules/undici"), join(folder, "node_modules/undici"), {
  recursive: true,
  filter: (path) => !/undici\/(?:docs|types|scripts)$/.test(path),
});
cpSync(join(root, "src/package/action/action.yml"), join(folder, "action.yml"));
