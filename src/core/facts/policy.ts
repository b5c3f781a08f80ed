/** Content security policy of a report: a browser may only show it. */
import { createHash } from "node:crypto";
import { style } from "./render/style.js";

const styleHash = createHash("sha256").update(style).digest("base64");

/** As a field of HTTP, where a policy can also forbid frames. */
export const servedPolicy = (policy: string): string => `${policy}; frame-ancestors 'none'`;

export const reportPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;
