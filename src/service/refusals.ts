/** Error responses: status codes and messages for clients. Messages must not reveal how the service works inside. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionError, FastifyError } from "fastify";
import { ListFault } from "../lists/list-fault.js";
import { StoreError } from "../store/errors.js";
import { errorBody } from "./error-codes.js";
import { maximumItemLength } from "./openapi.js";

export class Refusal extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
    /** Tells apart the reasons of one status; see the schema Error. */
    readonly code?: string,
    /** Time after which the request may be sent again, in seconds. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

export const noSuchPath = errorBody(404, "No such path; GET / names those that there are.");

export function explain(
  error: FastifyError,
  maximumItems: number,
  bodyLimit: number,
): Pick<Refusal, "statusCode" | "message" | "code" | "retryAfter"> {
  if (error instanceof Refusal || error instanceof ListFault) return error;
  if (error instanceof StoreError) {
    return { statusCode: 503, message: "Service unavailable; try again later." };
  }
  const { code, statusCode = 500, validation } = error;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return {
      statusCode: 413,
      message: `Body too large: at most ${bodyLimit} bytes. Items per request: at most ${maximumItems}.`,
    };
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return { statusCode: 415, message: "Content-Type must be application/json." };
  }
  if (validation !== undefined) return { statusCode: 400, message: describeFault(validation[0]) };
  if (statusCode >= 400 && statusCode < 500) return { statusCode, message: "Bad request." };
  return { statusCode: 500, message: "Internal error." };
}

/** The part of Ajv's error object that is used here. */
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
  if (field === "") return "The body must be a JSON object.";
  const type = String(params["type"]);
  return `${field} must be ${typeNames[type] ?? `of type ${type}`}.`;
}

const typeNames: Readonly<Record<string, string>> = {
  array: "an array of strings",
  boolean: "true or false",
  string: "a string",
};

/**
 * Writes an error response to a connection that sent invalid HTTP, or whose request did not arrive in time, and closes it.
 * Fastify has no request to reply to in these cases.
 */
export function refuseBrokenRequest({ code }: ConnectionError, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, message] = connectionFaults[code ?? ""] ?? ["400 Bad Request", "Not HTTP."];
  const body = JSON.stringify(errorBody(Number(status.slice(0, 3)), message));
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Refuses a request with an expectation other than `100-continue`. Node keeps these from Fastify. */
export function refuseExpectation(_: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(errorBody(417, "Expect: only 100-continue."));
  const headers = { "content-type": "application/json; charset=utf-8", connection: "close" };
  response.writeHead(417, headers).end(body);
}

const connectionFaults: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long."],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The header fields are too large."],
};
