/**
 * Compiles the lists of the installed npm packages into `disposable.bin` next to the classifier. Run by `npm run build`;
 * not used at run time.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileLists, listPackages } from "./sources.js";

const { resolve } = createRequire(import.meta.url);

/** Publication dates of the versions, which the packages do not contain. Add the date of each new version here. */
const published: Readonly<Record<string, string>> = {
  "disposable-domains@2.0.1": "2026-08-24",
  "disposable-email-domains-js@1.26.0": "2026-09-21",
};

const versions = listPackages.map(({ name, file }) => {
  const { version, license } = JSON.parse(readFileSync(resolve(`${name}/package.json`), "utf8"));
  const date = published[`${name}@${version}`];
  if (date === undefined) throw new Error(`${name}@${version}: add its publication date to build.ts`);
  const list = JSON.parse(readFileSync(resolve(`${name}/${file}`), "utf8")) as string[];
  return { name, version, published: date, licence: license, list };
});
writeFileSync(new URL("../classifier/disposable.bin", import.meta.url), compileLists(versions));
