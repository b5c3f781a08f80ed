// npm run set-repository -- OWNER/NAME AUTHOR
//
// Puts the place of the repository and the author into package.json, in place of those there, and the place of the image into
// the objects for Kubernetes.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const [name = "", author = ""] = process.argv.slice(2);
if (!/^[\w.-]+\/[\w.-]+$/.test(name) || author === "") {
  process.stderr.write("npm run set-repository -- OWNER/NAME AUTHOR\n");
  process.exit(2);
}
const file = new URL("../package.json", import.meta.url);
const text = readFileSync(file, "utf8");
const changed = { ...JSON.parse(text), author };
const url = `https://github.com/${name}`;
Object.assign(changed, {
  homepage: `${url}#readme`,
  bugs: `${url}/issues`,
  repository: { type: "git", url: `git+${url}.git` },
});
writeFileSync(file, `${JSON.stringify(changed, undefined, 2)}\n`);

const manifests = new URL("../deploy/kubernetes/", import.meta.url);
for (const each of readdirSync(manifests)) {
  const path = new URL(each, manifests);
  const manifest = readFileSync(path, "utf8");
  writeFileSync(path, manifest.replace(/image: \S+(:\S+)/g, `image: ghcr.io/${name.toLowerCase()}$1`));
}
