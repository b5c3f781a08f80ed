/** Reads a list from a form with a file. */
import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import type { FastifyRequest } from "fastify";
import type { Kind } from "../../core/validator/validator.js";
import type { StoredList } from "../../state/service/lists.js";
import type { Lists } from "../lists/lists.js";
import { Refusal } from "../refusal.js";
import { nameOf } from "./access.js";

/** Reads a kind, a column and a file, in this order. @throws Refusal when one is missing; Refusal */
export async function readUpload(request: FastifyRequest, lists: Lists): Promise<StoredList> {
  const form = openForm(request.headers["content-type"] ?? "");
  let kind: Kind = "email";
  let column = "";
  let list: Readable | undefined;
  let taken: Promise<StoredList> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const torn = () => reject(new Refusal(400, "The upload broke off; try again."));
      form.on("field", (name, value) => {
        if (name === "kind" && value === "domain") kind = "domain";
        if (name === "column") column = value.trim();
      });
      form.on("file", (_name, file: Readable, name) => {
        list = file;
        taken = lists.take(file, { name: name ?? "", kind, who: nameOf(request) }, column);
        // Refuse a list that is too large before all of it has arrived.
        taken.catch((error) => (error instanceof Refusal ? reject(error) : torn()));
      });
      form.once("finish", resolve);
      // A broken form may fail more than once.
      form.on("error", torn);
      request.raw.on("error", torn);
      request.raw.once("close", () => request.raw.complete || torn());
      request.raw.pipe(form);
    });
    if (taken === undefined) throw new Refusal(400, "Choose a file.");
    return await (taken as Promise<StoredList>);
  } catch (error) {
    list?.destroy(error as Error);
    throw error;
  } finally {
    request.raw.unpipe(form);
  }
}

function openForm(type: string): InstanceType<typeof Busboy> {
  if (!type.startsWith("multipart/form-data")) throw new Refusal(415, "This is not a form with a file.");
  try {
    return new Busboy({ headers: { "content-type": type }, limits: { fields: 5, fieldSize: 100, files: 1, parts: 6 } });
  } catch {
    throw new Refusal(400, "The form names no boundary between its parts.");
  }
}
