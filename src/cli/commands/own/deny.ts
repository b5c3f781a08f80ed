/** `idv deny`. */
import { ownListCommand } from "./own-list.js";

export const define = ownListCommand("deny");
