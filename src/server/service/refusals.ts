/** Error responses: status codes and messages for clients. Messages must not reveal how the service works inside. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionError, FastifyError } from "fastify";
import { meantBy } from "../../core/meant.js";
import { StoreError } from "../../state/errors.js";
import { Refusal } from "../refusal.js";
import { errorBody } from "./error-codes.js";
import { endAfterAnswers } from "./plugins/connections.js";

export const noSuchPath = errorBody(404, "No such path; GET / names those that there are.");

export function refusalFor(error: FastifyError, maximumItems: number, bodyLimit: number): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreError) return new Refusal(503, "Service unavailable; try again later.");
  const { code, statusCode = 500, validation, validationContext } = error;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new Refusal(413, `Body too large: at most ${bodyLimit} bytes. Items per request: at most ${maximumItems}.`);
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    const text = "Content-Type must be application/json; a table goes to /lists with curl --data-binary @list.csv.";
    return new Refusal(415, text);
  }
  if (validation?.[0] !== undefined) {
    const what = validationContext === "querystring" ? "parameter" : "field";
    return new Refusal(400, describeFault(what, validation[0]));
  }
  return statusCode >= 400 && statusCode < 500
    ? new Refusal(statusCode, "Bad request.")
    : new Refusal(500, "Internal error.");
}

interface ValidationFault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: { readonly properties?: Readonly<Record<string, unknown>> };
  readonly data?: unknown;
}

function describeFault(what: "field" | "parameter", fault: ValidationFault): string {
  const { instancePath, keyword, params, parentSchema, data } = fault;
  const name = instancePath
    .slice(1)
    .replace("/", "[")
    .replace(/\[(\d+)$/, "[$1]");
  const known = Object.keys(parentSchema?.properties ?? {});
  switch (keyword) {
    case "required": {
      // A misspelt name is missing under its right name.
      const wrong = Object.keys(Object(data)).find((name) => !known.includes(name));
      if (wrong !== undefined) return unknownName(what, wrong, known);
      return `The ${what} ${String(params["missingProperty"])} is missing.`;
    }
    case "additionalProperties":
      return unknownName(what, String(params["additionalProperty"]), known);
    case "maxLength":
      return `${name} is longer than ${String(params["limit"])} characters.`;
    case "enum":
      return `${name} must be one of ${(params["allowedValues"] as readonly unknown[]).join(", ")}.`;
    case "type": {
      if (name === "") return "The body must be a JSON object.";
      const type = String(params["type"]);
      return `${name} must be ${typeNames[type] ?? `of type ${type}`}.`;
    }
    default:
      return `${name} is not valid.`;
  }
}

function unknownName(what: string, name: string, known: readonly string[]): string {
  const shown = JSON.stringify(name.slice(0, mostShown));
  if (known.length === 0) return `There is no ${what} ${shown}: this request takes none.`;
  const meant = meantBy(name, known);
  const others = known.length === 1 ? `the only one is ${known[0]}.` : `there are ${known.join(", ")}.`;
  return `There is no ${what} ${shown}; ${meant === undefined ? others : `did you mean ${meant}?`}`;
}

const mostShown = 100;

const typeNames: Readonly<Record<string, string>> = {
  array: "an array of strings",
  boolean: "true or false",
  string: "a string",
};

/** Answers invalid HTTP and requests that did not arrive in time, for which Fastify has no request to reply to. */
export function refuseBrokenRequest({ code }: Pick<ConnectionError, "code">, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, message] = connectionFaults[code ?? ""] ?? ["400 Bad Request", "Not HTTP."];
  refuseRest(socket, status, message);
}

/** Refuses CONNECT, which Node keeps from Fastify. */
export const refuseTunnel = (_: IncomingMessage, socket: Duplex): void =>
  refuseRest(socket as Socket, "405 Method Not Allowed", "Method not allowed.");

function refuseRest(socket: Socket, status: string, message: string): void {
  const body = JSON.stringify(errorBody(Number(status.slice(0, 3)), message));
  const answer =
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  endAfterAnswers(socket, answer);
}

/** Refuses expectations other than `100-continue`, which Node keeps from Fastify. */
export function refuseExpectation(_: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(errorBody(417, "Expect: only 100-continue."));
  const headers = { "content-type": "application/json; charset=utf-8", connection: "close" };
  response.writeHead(417, headers).end(body);
}

const connectionFaults: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_INVALID_EOF_STATE: ["400 Bad Request", "The request broke off; send it again."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long."],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The header fields are too large."],
};
