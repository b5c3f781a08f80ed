/** The end of an upload that is refused before all of it has arrived. */
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const patience = 3000;

/** Clients read the answer only when they have sent everything. The connection must be closed with it. */
export async function readRest(upload: IncomingMessage): Promise<void> {
  upload.resume();
  if (upload.readableEnded) return;
  const arrived = new Promise((resolve) => upload.once("close", resolve).once("end", resolve));
  await Promise.race([arrived, sleep(patience)]);
}
