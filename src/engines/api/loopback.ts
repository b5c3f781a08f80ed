/** Recognises addresses of this machine. */
import { isIP } from "node:net";

/** RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}
