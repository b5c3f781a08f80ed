// Peer of bench:service: a Fastify handler that only parses the body and echoes a map of its items; with `verdicts`, of those that
// the library gives.
import Fastify from "fastify";
import { classifyEmail } from "../../dist/library/index.js";

const verdictOn = process.argv[2] === "verdicts" ? classifyEmail : () => ({ status: "ok" });

const service = Fastify({ bodyLimit: 16 * 2 ** 20 });
service.post("/emails/validate", async ({ body }) => ({
  emails: Object.fromEntries(body.emails.map((email) => [email, verdictOn(email)])),
}));
const address = await service.listen({ host: "127.0.0.1", port: 0 });
process.stderr.write(`listening on ${address}\n`);
