/** Programs of the system that only some tests need; these are left out where the program is missing. */
import { spawnSync } from "node:child_process";

export const hasProgram = (name: string): boolean => spawnSync("which", [name], { stdio: "ignore" }).status === 0;
