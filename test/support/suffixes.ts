/** The public suffixes of the installed package, and its file. */
import { readFileSync } from "node:fs";
import { suffixPackage, suffixRulesIn } from "../../src/engines/data/suffix-rules.js";

const { name, file } = suffixPackage;
export const suffixText = readFileSync(new URL(`../../node_modules/${name}/${file}`, import.meta.url), "utf8");
export const suffixRules = suffixRulesIn(suffixText);
