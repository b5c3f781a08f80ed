/**
 * Makes `popular.bin` of a list of popular domains, one a line: `node dist/data/build-popular.js LIST`. Not part of the build:
 * the file is in the repository. Change its date in NOTICE with it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { compilePopular, popularSource } from "./popular-domains.js";

const [, , list = ""] = process.argv;
writeFileSync(popularSource, compilePopular(readFileSync(list, "utf8").trim().split(/\r?\n/)));
