import { z } from "zod";
import { problem } from "../wire/envelope.ts";
import { wireEvents } from "../wire/events.ts";
import type { WireEvent } from "../wire/events.ts";
import { nameOf, wireSchemas } from "../wire/schemas.ts";
import { operations } from "./operations.ts";
import type { Operation } from "./operations.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

/** The service as an OpenAPI 3.1 document, webhooks included. */
export function buildDocument(): JsonObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Escrow Contract Service",
      version: "1.0.0",
      description: about,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://127.0.0.1:4010", description: "The sandbox: `npx escrow-mirror sandbox`." }],
    security: [{ accessToken: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: toPaths(),
    webhooks: Object.fromEntries(wireEvents.map((event) => [event.type, { post: toWebhook(event) }])),
    components: {
      securitySchemes: {
        accessToken: { type: "http", scheme: "bearer", description: "From POST /connect/token." },
      },
      parameters,
      headers,
      responses: Object.fromEntries(problems.map((response) => [response.name, toProblem(response)])),
      schemas: toSchemas(),
    },
  };
}

const about =
  "Holds a buyer's payment in escrow and releases it to a seller. Every JSON body but the token's has one envelope. Times are UTC, amounts SAR.";

const tags: Readonly<Record<Operation["tag"] | "Events", string>> = {
  Contracts: "Create, read, pay.",
  Refunds: "Give the buyer the money back.",
  Webhooks: "The subscription and its delivery log.",
  Users: "The people behind the contracts.",
  Token: "Access tokens by client credentials.",
  Events: "The service's webhooks.",
};

function toPaths(): JsonObject {
  const paths = [...new Set(operations.map(({ path }) => path))];
  return Object.fromEntries(
    paths.map((path) => {
      const own = operations.filter((operation) => operation.path === path);
      return [path, Object.fromEntries(own.map((operation) => [operation.method, toOperation(operation)]))];
    }),
  );
}

function toOperation(operation: Operation): JsonObject {
  const { id, tag, summary, description, parameters: names, body, contentType = json, answer } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(tag === "Token" ? { security: [] } : {}),
    ...(names === undefined ? {} : { parameters: names.map((name) => ref("parameters", name)) }),
    ...(body === undefined ? {} : { requestBody: toBody(body, contentType) }),
    responses: {
      "200": { description: summary, content: { [json]: { schema: schemaRef(answer) } } },
      ...Object.fromEntries(problems.map(({ status, name }) => [status, ref("responses", name)])),
    },
  };
}

function toBody(schema: z.ZodType, contentType: string): JsonObject {
  return { required: true, content: { [contentType]: { schema: schemaRef(schema) } } };
}

/** Receivers: any 2xx is a delivery (§6.5). */
function toWebhook({ type, schema, summary }: WireEvent): JsonObject {
  return {
    operationId: nameOf(schema),
    tags: ["Events"],
    summary,
    security: [],
    parameters: ["Signature", "Event", "WebhookId", "Timestamp"].map((name) => ref("parameters", name)),
    requestBody: toBody(schema, json),
    responses: {
      "2XX": { description: `Your endpoint has stored ${type}.` },
      "4XX": { description: "400, 401, 403 and 404 are final. 408 and 429 are retried." },
      default: { description: "500, 502, 503 and 504 are retried, five times within 73 minutes." },
    },
  };
}

const json = "application/json";

interface ProblemResponse {
  readonly name: string;
  readonly status: string;
  readonly description: string;
  readonly header?: keyof typeof headers;
}

const problems: readonly ProblemResponse[] = [
  { status: "400", name: "BadRequest", description: "The request is wrong, or the state does not allow it." },
  {
    status: "401",
    name: "Unauthorized",
    description: "No token, or none that is valid.",
    header: "WWW-Authenticate",
  },
  { status: "403", name: "Forbidden", description: "Not allowed to this client." },
  { status: "404", name: "NotFound", description: "What the request names is not there." },
  { status: "405", name: "MethodNotAllowed", description: "The path has other methods.", header: "Allow" },
  { status: "409", name: "Conflict", description: "Another request was faster." },
  { status: "415", name: "UnsupportedMediaType", description: "The body is not JSON by its Content-Type." },
  {
    status: "429",
    name: "TooManyRequests",
    description: "Too many requests. Nothing was done.",
    header: "Retry-After",
  },
  { status: "500", name: "InternalServerError", description: "The service failed." },
  { status: "default", name: "Other", description: "Any other error. A gateway answers with HTML." },
];

const headers = {
  "WWW-Authenticate": { description: "Bearer.", schema: { type: "string" } },
  Allow: { description: "The methods that the path has.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds to wait, or a date.", schema: { type: "string" } },
} as const;

/** The envelope names the same status as HTTP. */
function toProblem({ status, description, header: name }: ProblemResponse): JsonObject {
  const own = { allOf: [schemaRef(problem), { properties: { status: { const: Number(status) } } }] };
  const content =
    status === "default"
      ? { [json]: { schema: schemaRef(problem) }, "text/html": { schema: { type: "string" } } }
      : { [json]: { schema: own } };
  return {
    description,
    ...(name === undefined ? {} : { headers: { [name]: ref("headers", name) } }),
    content,
  };
}

const whole = { type: "integer", minimum: 1 } as const;
const signed = { type: "string", minLength: 1 } as const;

const parameters: JsonObject = {
  ContractId: {
    name: "externalContractId",
    in: "path",
    required: true,
    description: "The contract's id.",
    schema: { type: "string", pattern: String.raw`^CNT-\d{4}-\d{8,}$`, example: "CNT-2601-00100003" },
  },
  Page: { name: "page", in: "query", description: "From 1.", schema: { ...whole, default: 1 } },
  PageSize: {
    name: "pageSize",
    in: "query",
    description: "Entries of a page.",
    schema: { ...whole, maximum: 100, default: 20 },
  },
  PhoneNumber: {
    name: "phoneNumber",
    in: "query",
    required: true,
    description: "Whose onboarding. With its country code.",
    schema: { type: "string", pattern: String.raw`\S` },
  },
  Signature: header("Signature", "`sha256=` and the hex HMAC-SHA256 of the body under the signing secret."),
  Event: header("Event", "The event's type."),
  WebhookId: header("Webhook-Id", "Unique id of the delivery."),
  Timestamp: header("Timestamp", "When the webhook was created: ISO 8601."),
};

function header(name: string, description: string): JsonObject {
  return { name: `X-Service-${name}`, in: "header", required: true, description, schema: signed };
}

/** Components refer to each other in the document, and their own `$schema` and `$id` go: the document says the dialect. */
function toSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(wireSchemas, { target: "draft-2020-12", io: "input", uri: toUri });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [
      id,
      schema as JsonObject,
    ]),
  );
}

function toUri(id: string): string {
  return `#/components/schemas/${id}`;
}

function schemaRef(schema: z.ZodType): JsonObject {
  return ref("schemas", nameOf(schema));
}

function ref(kind: string, name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}
