/** Makes `popular.bin`: `node dist/engines/data/build-popular.js LIST`. Not in the build. Update the date in NOTICE. */
import { readFileSync, writeFileSync } from "node:fs";
import { compilePopular, popularSource } from "./popular-domains.js";

const [, , list = ""] = process.argv;
writeFileSync(popularSource, compilePopular(readFileSync(list, "utf8").trim().split(/\r?\n/)));
