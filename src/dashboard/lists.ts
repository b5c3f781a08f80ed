/** The list being checked: one at a time in a server, for the session that has sent it. */
import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import type { FastifyRequest } from "fastify";
import type { Kind } from "../validator/validator.js";
import { ListJob, type ListRunner } from "./list-job.js";
import { PageFault } from "./page-fault.js";

/** Time after the last visit when a list is removed, in milliseconds. */
const keptMilliseconds = 3_600_000;

export class Lists {
  readonly mostBytes: number;
  readonly #runner: ListRunner;
  #current: { readonly session: string; readonly job: ListJob } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(runner: ListRunner) {
    this.#runner = runner;
    this.mostBytes = runner.mostBytes;
  }

  of(session: string): ListJob | undefined {
    if (this.#current?.session !== session) return undefined;
    this.#keep();
    const { job } = this.#current;
    return job.state.name === "arriving" ? undefined : job;
  }

  /**
   * Reads a list from a form, in place of an older one of the session.
   *
   * @throws PageFault when another session's list is checked, or the form holds no usable list
   */
  async take(request: FastifyRequest, session: string): Promise<void> {
    if (this.#isClosed) throw new PageFault(503, "The server is about to stop; try again later.");
    if (this.#current?.session === session) await this.remove(session);
    if (this.#current !== undefined) {
      throw new PageFault(409, "Another list is being checked on this server; try again in a few minutes.");
    }
    const job = new ListJob(this.#runner);
    this.#current = { session, job };
    try {
      await readUpload(request, job);
      this.#keep();
    } catch (error) {
      await job.end();
      if (this.#current?.job === job) this.#current = undefined;
      throw error;
    }
  }

  async remove(session = this.#current?.session): Promise<void> {
    const current = this.#current;
    if (current === undefined || current.session !== session) return;
    clearTimeout(this.#timer);
    await current.job.end();
    if (this.#current === current) this.#current = undefined;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.remove();
  }

  #keep(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.remove(), keptMilliseconds).unref();
  }
}

/**
 * Reads a form with a kind, a column and a file, in this order, and passes the file to a job.
 *
 * @throws PageFault when the form is incomplete
 */
async function readUpload(request: FastifyRequest, job: ListJob): Promise<void> {
  const form = openForm(request.headers["content-type"] ?? "");
  let kind: Kind = "email";
  let column = "";
  let taken: Promise<void> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const torn = () => reject(new PageFault(400, "The upload broke off; try again."));
      form.on("field", (name, value) => {
        if (name === "kind" && value === "domain") kind = "domain";
        if (name === "column") column = value.trim();
      });
      form.on("file", (_name, file: Readable, name) => {
        taken = job.take(file, { name: name ?? "", kind, column });
        // Refuse a list that is too large before all of it has arrived.
        taken.catch((error) => (error instanceof PageFault ? reject(error) : torn()));
      });
      form.once("finish", resolve);
      // A broken form may fail more than once.
      form.on("error", torn);
      request.raw.on("error", torn);
      request.raw.once("close", () => request.raw.complete || torn());
      request.raw.pipe(form);
    });
    if (taken === undefined) throw new PageFault(400, "Choose a file.");
    await (taken as Promise<void>);
  } finally {
    request.raw.unpipe(form);
  }
}

function openForm(type: string): InstanceType<typeof Busboy> {
  if (!type.startsWith("multipart/form-data")) throw new PageFault(415, "This is not a form with a file.");
  try {
    return new Busboy({
      headers: { "content-type": type },
      limits: { fields: 5, fieldSize: 100, files: 1, parts: 6 },
    });
  } catch {
    throw new PageFault(400, "The form names no boundary between its parts.");
  }
}
