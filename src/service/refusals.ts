/** What those are told whose requests are not answered with results. */
import type { Socket } from "node:net";
import type { ConnectionError, FastifyError } from "fastify";
import { StoreError } from "../store/sqlite.js";
import { maximumItemLength } from "./openapi.js";

/** What a request is refused with: the message is for its sender and says nothing of our inside. */
export class Refusal extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message);
  }
}

/** What an error means for the sender of the request. */
export function explain(
  error: FastifyError,
  maximumItems: number,
  bodyLimit: number,
): Pick<Refusal, "statusCode" | "message"> {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreError) {
    return { statusCode: 503, message: "The service cannot use its state now." };
  }
  const { code, statusCode = 500, validation } = error;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return { statusCode: 413, message: `At most ${maximumItems} items and ${bodyLimit} bytes a request.` };
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return { statusCode: 415, message: "The Content-Type has to be application/json." };
  }
  if (validation !== undefined) return { statusCode: 400, message: describeFault(validation[0]) };
  if (statusCode >= 400 && statusCode < 500)
    return { statusCode, message: "The request is not as it should be." };
  return { statusCode: 500, message: "Something is wrong here." };
}

interface ValidationFault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Record<string, unknown>;
}

function describeFault(
  { instancePath, keyword, params }: ValidationFault = { instancePath: "", keyword: "", params: {} },
) {
  const field = instancePath
    .slice(1)
    .replace("/", "[")
    .replace(/\[(\d+)$/, "[$1]");
  if (keyword === "required") return `The field ${String(params["missingProperty"])} is missing.`;
  if (keyword === "maxLength") return `${field} is longer than ${maximumItemLength} characters.`;
  if (field === "") return "The body has to be a JSON object.";
  return field.includes("[") ? `${field} has to be a string.` : `${field} has to be an array of strings.`;
}

/** What is no HTTP, or does not come in time, has no request that could be answered: only its connection. */
export function refuseBrokenRequest({ code }: ConnectionError, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, message] = connectionFaults[code ?? ""] ?? ["400 Bad Request", "The request is no HTTP."];
  const body = JSON.stringify({ message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const connectionFaults: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long."],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The header fields are too large."],
};
