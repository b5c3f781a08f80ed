/** The codes of errors, and the body of an error response. */

/** 429 has three codes. The interface document gives 401 a message only. */
const codes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  403: "not_permitted",
  404: "not_found",
  405: "method_not_allowed",
  408: "request_timeout",
  409: "conflict",
  410: "gone",
  413: "too_large",
  415: "unsupported_media_type",
  417: "expectation_failed",
  422: "idempotency_key_reused",
  431: "header_too_large",
  500: "internal_error",
  501: "not_implemented",
  503: "unavailable",
  507: "no_room",
};

export const errorCodes = [...Object.values(codes), "quota_exhausted", "rate_limited", "too_many_lists"];

export function errorBody(statusCode: number, message: string, code = codes[statusCode]) {
  return { message, ...(code !== undefined && { code }) };
}
