// Peer of bench:api: sends the same requests at the same concurrency with undici, and discards the answers or, with `parsed`, parses
// them.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "undici";

const [file, url, size, concurrency, use] = process.argv.slice(2);
const emails = readFileSync(file, "utf8").trimEnd().split("\n").slice(1);
const dispatcher = new Agent({ connections: Number(concurrency) });
const headers = { authorization: `Bearer ${process.env.IDV_API_KEY}`, "content-type": "application/json" };
let next = 0;
async function client() {
  while (next < emails.length) {
    const batch = emails.slice(next, next + Number(size));
    next += Number(size);
    const body = JSON.stringify({ emails: batch });
    const own = { ...headers, "idempotency-key": randomUUID() };
    const answer = await request(`${url}/emails/validate`, { method: "POST", dispatcher, headers: own, body });
    await (use === "parsed" ? answer.body.json() : answer.body.dump());
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, client));
await dispatcher.close();
