import { faultOf, operations } from "./document.ts";
import type { Operation } from "./document.ts";
import { formOf } from "./requests.ts";
import type { Request } from "./requests.ts";

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Where an answer leaves the document; `undefined` where it does not. */
export function deviationOf(planned: Operation, request: Request, answer: Answer): string | undefined {
  // Another method may be another operation of the path.
  const operation =
    operations.find(({ method, path }) => method === request.method && path === planned.path) ?? planned;
  const fault = faultOfRequest(operation, request);
  if (fault !== undefined && answer.status < 400)
    return `${answer.status} to what the document refuses: ${fault}`;
  if (fault === undefined && neverToValid(operation, answer.status))
    return `${answer.status} to what the document allows`;
  return faultOfAnswer(operation, answer);
}

/** Only the token request may be refused for what stands in it. */
function neverToValid({ id }: Operation, status: number): boolean {
  return [405, 415, 500].includes(status) || (status === 401 && id !== "createToken");
}

function faultOfAnswer({ responses }: Operation, { status, contentType, text }: Answer): string | undefined {
  const response = responses[String(status)] ?? responses["default"];
  const type = contentType.split(";")[0] ?? "";
  const content = response?.content?.[type];
  if (content === undefined) return `${status} with ${type === "" ? "no content type" : type}`;
  const fault = faultOf(content.schema, type === "application/json" ? parse(text) : text);
  return fault === undefined ? undefined : `${status}: ${fault}`;
}

/** What the document says against a request. */
function faultOfRequest(operation: Operation, request: Request): string | undefined {
  if (request.method !== operation.method) return "the method";
  if (operation.id !== "createToken" && !/^Bearer \S{20,}$/.test(request.authorization ?? ""))
    return "no token";
  return faultOfParameters(operation, request) ?? faultOfBody(operation, request);
}

function faultOfParameters({ parameters, path }: Operation, request: Request): string | undefined {
  for (const { name, in: place, required, schema } of parameters) {
    const value = place === "path" ? idIn(path, request.path) : request.query[name];
    if (value === undefined && required !== true) continue;
    const read = schema.type === "integer" && /^\d{1,15}$/.test(value ?? "") ? Number(value) : value;
    const fault = faultOf(schema, read);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  return undefined;
}

function idIn(template: string, path: string): string {
  const [before = "", after = ""] = template.split("{externalContractId}");
  return path.slice(before.length, path.length - after.length);
}

function faultOfBody({ body }: Operation, request: Request): string | undefined {
  if (body === undefined) return undefined;
  if (request.contentType !== body.type) return "the content type";
  return faultOf(body.schema, bodyOf(request));
}

/** What the service can read of it. */
function bodyOf({ contentType, body, text }: Request): unknown {
  if (contentType === "application/json") return text === undefined ? body : parse(text);
  return Object.fromEntries(text === undefined ? formOf(body) : new URLSearchParams(text));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
