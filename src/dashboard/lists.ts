/** The list that is checked: one at a time in a server, for the session that has sent it. */
import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import type { FastifyRequest } from "fastify";
import type { Kind } from "../validator/validator.js";
import { ListJob, type ListRunner } from "./list-job.js";
import { PageFault } from "./page-fault.js";

/** Time after which a list that nobody looks at is removed, in milliseconds. */
const keptMilliseconds = 3_600_000;

export class Lists {
  readonly mostBytes: number;
  readonly #runner: ListRunner;
  /** The list, or one that is arriving, and the session that it belongs to. */
  #current: { readonly session: string; readonly job: ListJob | undefined } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(runner: ListRunner) {
    this.#runner = runner;
    this.mostBytes = runner.mostBytes;
  }

  /** Returns the list of a session. */
  of(session: string): ListJob | undefined {
    if (this.#current?.session !== session) return undefined;
    this.#keep();
    return this.#current.job;
  }

  /**
   * Takes the list in a form.
   *
   * @throws PageFault when another list is checked, or there is none in the form that can be
   */
  async take(request: FastifyRequest, session: string): Promise<void> {
    if (this.#current?.session === session) await this.remove(session);
    if (this.#current !== undefined) {
      throw new PageFault(409, "Another list is being checked on this server; try again in a few minutes.");
    }
    const arriving = { session, job: undefined };
    this.#current = arriving;
    try {
      const job = await readUpload(request, this.#runner);
      // It was removed while it arrived, and another one may be here by now.
      if (this.#current !== arriving) return await job.end();
      this.#current = { session, job };
      this.#keep();
    } catch (error) {
      if (this.#current === arriving) this.#current = undefined;
      throw error;
    }
  }

  /** Removes the list of a session; that of any session by default. */
  async remove(session = this.#current?.session): Promise<void> {
    const current = this.#current;
    if (current === undefined || current.session !== session) return;
    clearTimeout(this.#timer);
    await current.job?.end();
    if (this.#current === current) this.#current = undefined;
  }

  #keep(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.remove(), keptMilliseconds).unref();
  }
}

/**
 * Reads a form with a kind, a column and a file, in this order.
 *
 * @throws PageFault when it is not whole
 */
async function readUpload(request: FastifyRequest, runner: ListRunner): Promise<ListJob> {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) throw new PageFault(415, "This is no form with a file.");
  const form = new Busboy({
    headers: { "content-type": type },
    limits: { fields: 5, fieldSize: 100, files: 1, parts: 6 },
  });
  let kind: Kind = "email";
  let column = "";
  let upload: Readable | undefined;
  let opened: Promise<ListJob> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const torn = () => reject(new PageFault(400, "The upload broke off; try again."));
      form.on("field", (name, value) => {
        if (name === "kind" && value === "domain") kind = "domain";
        if (name === "column") column = value.trim();
      });
      form.on("file", (_name, file: Readable, name) => {
        upload = file;
        opened = ListJob.open(runner, { name: name ?? "", kind, column }, file);
        // A list that is too large need not arrive whole.
        opened.catch(reject);
      });
      form.once("finish", resolve);
      form.once("error", torn);
      request.raw.once("error", torn);
      request.raw.once("close", () => request.raw.complete || torn());
      request.raw.pipe(form);
    });
    if (opened === undefined) throw new PageFault(400, "Choose a file.");
    return await (opened as Promise<ListJob>);
  } catch (error) {
    request.raw.unpipe(form);
    upload?.destroy(new Error("broken off"));
    await opened?.then(
      (job) => job.end(),
      () => {},
    );
    throw error;
  }
}
