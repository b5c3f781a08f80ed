/** Run by `npm run build`: compiles the npm packages' lists into `disposable.bin` beside the classifier. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileLists, listPackages } from "./sources.js";

const { resolve } = createRequire(import.meta.url);

/** When the versions were published, which the packages themselves do not say. A new version needs its date here. */
const published: Readonly<Record<string, string>> = {
  "disposable-domains@2.0.1": "2026-08-24",
  "disposable-email-domains-js@1.26.0": "2026-09-21",
};

const versions = listPackages.map(({ name, file }) => {
  const { version, license } = JSON.parse(readFileSync(resolve(`${name}/package.json`), "utf8"));
  const date = published[`${name}@${version}`];
  if (date === undefined) throw new Error(`${name}@${version}: write down when it was published`);
  const list = JSON.parse(readFileSync(resolve(`${name}/${file}`), "utf8")) as string[];
  return { name, version, published: date, licence: license, list };
});
writeFileSync(new URL("../classifier/disposable.bin", import.meta.url), compileLists(versions));
