import * as fc from "fast-check";
import { valuesOf } from "./arbitrary.ts";
import { operationOf } from "./document.ts";
import type { Operation } from "./document.ts";

/** A request as it goes over the wire. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** Before it is written; `undefined` without a body. */
  readonly body: unknown;
  /** Replaces the written body. */
  readonly text?: string;
}

/** What earlier answers told: ids, and who the people are. */
export interface Known {
  readonly token: string;
  readonly credentials: { readonly client_id: string; readonly client_secret: string };
  readonly contractId: string;
  readonly milestoneId: number | undefined;
  readonly buyerPhone: string;
  readonly userPhone: string;
  readonly platformRefId: string | undefined;
}

/** A request that is made once it is known what it may name. */
export type Plan = (known: Known) => Request;

/** Requests that the document allows, and that name what is there: most of them succeed. */
export function validPlans(id: string, origin: string): fc.Arbitrary<Plan> {
  const operation = operationOf(id);
  const body =
    operation.body === undefined ? fc.constant(undefined) : valuesOf(operation.body.schema, origin);
  const query = fc.record(
    Object.fromEntries(
      operation.parameters
        .filter((parameter) => parameter.in === "query")
        .map(({ name, schema }) => [name, valuesOf(schema, origin)]),
    ),
    { requiredKeys: [] },
  );
  return fc.tuple(body, query).map(([value, parameters]) => (known: Known) => ({
    method: operation.method,
    path: operation.path.replace("{externalContractId}", known.contractId),
    query: fitQuery(operation, parameters, known),
    authorization: id === "createToken" ? undefined : `Bearer ${known.token}`,
    contentType: operation.body?.type,
    body: (fits[id] ?? asIs)(value, known),
  }));
}

type Fields = Readonly<Record<string, unknown>>;

const asIs = (body: unknown): unknown => body;

/** What a schema can't say: sums, and names of what is there. */
const fits: Readonly<Record<string, (body: unknown, known: Known) => unknown>> = {
  createContract: (body, known) => {
    const { Milestones, amount, BuyerParty, SellerParty, ...rest } = body as Fields;
    const parts =
      Array.isArray(Milestones) && Milestones.length > 1 ? (Milestones as { Amount: number }[]) : undefined;
    const halalas = parts?.reduce((sum, { Amount }) => sum + Math.round(Amount * 100), 0);
    const parties = { BuyerParty: fitParty(BuyerParty, known), SellerParty: fitParty(SellerParty, known) };
    return halalas === undefined
      ? { ...rest, ...parties, amount }
      : { ...rest, ...parties, amount: halalas / 100, Milestones: parts };
  },
  renewCheckout: (_, { contractId, buyerPhone }) => ({
    buyerPhoneNumber: buyerPhone,
    externalContractId: contractId,
  }),
  createRefund: (body, { milestoneId }) => {
    const { reason, type } = body as Fields;
    return {
      reason,
      type: type === "PARTIAL" ? null : type,
      ...(milestoneId === undefined ? {} : { milestoneId }),
    };
  },
  createToken: (body, { credentials }) => ({ ...(body as Fields), ...credentials }),
};

/** A user that is there, or one by phone. */
function fitParty(party: unknown, { platformRefId }: Known): unknown {
  const given = party as Fields;
  return typeof given["platformRefId"] === "string" ? { ...given, platformRefId } : given;
}

function fitQuery({ id }: Operation, query: Fields, { userPhone }: Known): Record<string, string> {
  if (id === "getOnboarding") return { phoneNumber: userPhone };
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

/** The same with one thing changed, most often for the worse. */
export function mutatedPlans(id: string, origin: string): fc.Arbitrary<Plan> {
  const operation = operationOf(id);
  const mutations = [
    ...transportMutations,
    ...(operation.body === undefined ? [] : [...bodyMutations, ...bodyMutations]),
    ...(operation.path.includes("{") ? [pathMutation] : []),
    ...(operation.parameters.some((parameter) => parameter.in === "query")
      ? [queryMutation, queryMutation]
      : []),
  ];
  return fc.tuple(validPlans(id, origin), fc.oneof(...mutations)).map(
    ([plan, mutate]) =>
      (known: Known) =>
        mutate(plan(known)),
  );
}

type Mutation = (request: Request) => Request;

const transportMutations: readonly fc.Arbitrary<Mutation>[] = [
  fc
    .constantFrom(undefined, "", "Bearer", "Bearer x.y", "Basic YTpi", "Bearer \u00e9")
    .map((authorization) => (request) => ({ ...request, authorization })),
  fc
    .constantFrom("PUT", "PATCH", "DELETE", "POST", "GET")
    .map((method) => (request) => ({ ...request, method })),
];

const bodyMutations: readonly fc.Arbitrary<Mutation>[] = [
  fc
    .constantFrom("", "{", "[]", "null", "5", '"text"', "\u0000")
    .map((text) => (request) => ({ ...request, text })),
  fc
    .constantFrom(undefined, "text/plain", "application/xml", "multipart/form-data")
    .map((contentType) => (request) => ({ ...request, contentType })),
  fieldMutation(),
  fieldMutation(),
  fieldMutation(),
];

const pathMutation: fc.Arbitrary<Mutation> = fc
  .constantFrom("CNT-2601-99999999", "CNT-1", "x", "%20", "..%2f", "0", "\u0661")
  .map((id) => (request) => ({ ...request, path: request.path.replace(/CNT-[\d-]+/, id) }));

const queryMutation: fc.Arbitrary<Mutation> = fc
  .tuple(
    fc.constantFrom("page", "pageSize", "phoneNumber"),
    fc.constantFrom("0", "-1", "101", "1.5", "x", "", " ", "9".repeat(30), undefined),
  )
  .map(([name, value]) => ({ query, ...request }) => {
    const { [name]: _, ...rest } = query;
    return { ...request, query: value === undefined || !(name in query) ? rest : { ...rest, [name]: value } };
  });

/** Takes one field away, or gives it another value, anywhere in the body. */
function fieldMutation(): fc.Arbitrary<Mutation> {
  const values = fc.constantFrom(
    undefined,
    null,
    0,
    -1,
    1.005,
    1e300,
    "",
    " ",
    "x",
    "0500000001",
    "2026-02-30T00:00:00Z",
    "soon",
    "x".repeat(600),
    true,
    [],
    {},
    [null],
  );
  return fc
    .tuple(fc.nat(), values)
    .map(([at, value]) => (request) => ({ ...request, body: change(request.body, at, value) }));
}

function change(body: unknown, at: number, value: unknown): unknown {
  const copy = structuredClone(body);
  const places = placesOf(copy);
  const place = places[at % Math.max(places.length, 1)];
  if (place === undefined) return copy;
  if (value === undefined) delete place.owner[place.name];
  else place.owner[place.name] = value;
  return copy;
}

function placesOf(value: unknown): { owner: Record<string, unknown>; name: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const owner = value as Record<string, unknown>;
  return Object.keys(owner).flatMap((name) => [{ owner, name }, ...placesOf(owner[name])]);
}

/** The body as it is written. */
export function writeBody({ contentType, body, text }: Request): string | undefined {
  if (text !== undefined || body === undefined) return text;
  return contentType === formType ? formOf(body).toString() : JSON.stringify(body);
}

const formType = "application/x-www-form-urlencoded";

export function formOf(body: unknown): URLSearchParams {
  const fields = Object.entries((body ?? {}) as Fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]));
}
