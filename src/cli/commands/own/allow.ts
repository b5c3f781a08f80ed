/** `idv allow`. */
import { ownListCommand } from "./own-list.js";

export const define = ownListCommand("allow");
