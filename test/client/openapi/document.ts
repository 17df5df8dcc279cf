import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** openapi.json, as far as the tests read it. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: OperationObject }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, ParameterObject>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  };
}

export interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Ref[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject | Ref>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface ResponseObject {
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Ref {
  readonly $ref: string;
}

/** The part of JSON schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

/** One operation with what it refers to put in its place. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly ParameterObject[];
  /** The request's content type and schema. */
  readonly body: { readonly type: string; readonly schema: Schema } | undefined;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export const document = JSON.parse(
  readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8"),
) as Document;

const ajv = new Ajv2020({ strict: false, allErrors: false });
formats.default(ajv);
ajv.addSchema(document, "openapi.json");

const validators = new Map<Schema, ValidateFunction>();

/** What is wrong with a value by a schema of the document; `undefined` where it is right. */
export function faultOf(schema: Schema, value: unknown): string | undefined {
  let validate = validators.get(schema);
  if (validate === undefined) {
    const rooted = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/components', '"openapi.json#/components'),
    ) as object;
    validate = ajv.compile(rooted);
    validators.set(schema, validate);
  }
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ""} ${error?.message ?? "is wrong"}`.trim();
}

/** What a reference stands for. */
export function resolve<Target extends object>(value: Target | Ref): Target {
  if (!("$ref" in value) || value.$ref === undefined) return value as Target;
  const parts = value.$ref.split("/").slice(1);
  return parts.reduce<unknown>((here, part) => (here as Record<string, unknown>)[part], document) as Target;
}

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): Operation => {
    const [body] = Object.entries(operation.requestBody?.content ?? {});
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []).map((parameter) => resolve<ParameterObject>(parameter)),
      body: body && { type: body[0], schema: body[1].schema },
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          resolve<ResponseObject>(response),
        ]),
      ),
    };
  }),
);

export function operationOf(id: string): Operation {
  const found = operations.find((operation) => operation.id === id);
  if (found === undefined) throw new Error(`the document has no operation ${id}`);
  return found;
}
