/**
 * Makes `popular.bin` from a list of popular domains, one per line: `node dist/engines/data/build-popular.js LIST`. Not part of
 * the build, because the file is in the repository. Update its date in NOTICE too.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { compilePopular, popularSource } from "./popular-domains.js";

const [, , list = ""] = process.argv;
writeFileSync(popularSource, compilePopular(readFileSync(list, "utf8").trim().split(/\r?\n/)));
