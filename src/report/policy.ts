/** What a browser may do with a report: show it. */
import { createHash } from "node:crypto";
import { style } from "./style.js";

const styleHash = createHash("sha256").update(style).digest("base64");

/** The policy of a report: nothing but its own style, which is in the page. */
export const reportPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;
