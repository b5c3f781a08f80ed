/** Lists on their way: the end of an upload that is refused before all of it has arrived, and files of results. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { Refusal } from "../refusal.js";

const patience = 3000;

/** Clients read the answer only when they have sent everything. The connection must be closed with it. */
export async function readRest(upload: IncomingMessage): Promise<void> {
  upload.resume();
  if (upload.readableEnded) return;
  const arrived = new Promise((resolve) => upload.once("close", resolve).once("end", resolve));
  await Promise.race([arrived, sleep(patience)]);
}

/** @throws Refusal when the file is gone */
export async function sendFile(reply: FastifyReply, path: string, type: string) {
  const file = await open(path).catch(() => {
    throw new Refusal(404, "The files of the list are gone.");
  });
  reply.header("content-length", (await file.stat()).size).type(type);
  return reply.send(createReadStream(path, { fd: file }));
}

export function sendResult(reply: FastifyReply, path: string, name: string) {
  reply.header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
  return sendFile(reply, path, "application/octet-stream");
}
