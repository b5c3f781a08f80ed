/** Schemas of the bodies that warehouses send and take. */

const status = { type: ["string", "null"], description: "The verdict; null for NULL." } as const;
const item = { type: ["string", "null"], description: "The item." } as const;
/** A row is a number and a text or null, which the version of JSON Schema that checks bodies cannot tell. */
const cell = { description: "A number, a text or null." } as const;

export const warehouseSchemas = {
  BigQueryRequest: {
    type: "object",
    required: ["calls"],
    properties: {
      requestId: { type: "string", description: "Identifies the request in all of its tries: it is charged once." },
      caller: { type: "string", description: "The job." },
      sessionUser: { type: "string", description: "Whose query it is; ignored." },
      userDefinedContext: {
        type: "object",
        additionalProperties: { type: "string" },
        properties: { idv_key: { type: "string", description: "The API key." } },
        description: "The user_defined_context of the function.",
      },
      calls: {
        type: "array",
        items: { type: "array", minItems: 1, maxItems: 1, items: item },
        description: "The argument of each call.",
      },
    },
  },
  BigQueryResponse: {
    type: "object",
    required: ["replies"],
    properties: { replies: { type: "array", items: status, description: "The value of each call." } },
  },
  SnowflakeRequest: {
    type: "object",
    required: ["data"],
    properties: {
      data: {
        type: "array",
        items: { type: "array", minItems: 2, maxItems: 2, items: cell },
        description: "The number of each row, and its argument.",
      },
    },
  },
  SnowflakeResponse: {
    type: "object",
    required: ["data"],
    properties: {
      data: {
        type: "array",
        items: { type: "array", items: cell },
        description: "The number of each row, and its status.",
      },
    },
  },
} as const;
