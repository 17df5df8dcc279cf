/**
 * Faults that the suite of an integrator must notice: `test/kit` uses the testing kit alone. Some are in the core; the others
 * are those that people make, in a receiver and in handlers that are written by hand.
 */
import { mutants, type Mutant } from "./mutants.ts";

/** Those of our own suite that are about what a delivery means. */
const ofOurSuite: ReadonlySet<string> = new Set([
  "dedupe off",
  "tie by arrival",
  "refund keyed by amount",
  "the legacy contract.refunded counts as a refund's own event",
  "stale wins",
  "a late event is not refolded",
  "a webhook clears fields",
  "any event sets the contract's amount",
  "ack before commit",
  "float money",
  "quarantine rejected as 400",
]);

const core = { tests: ["kit/core"] };
const decide = { ...core, file: "src/domain/decide.ts" };
const fold = { ...core, file: "src/domain/fold.ts" };
const moves = { ...core, file: "src/domain/moves.ts" };
const refund = { ...core, file: "src/domain/refund.ts" };
const payment = { ...core, file: "src/domain/payment.ts" };
const parse = { ...core, file: "src/events/parse.ts" };
const verify = { ...core, file: "src/signature/verify.ts" };
const dedupe = { ...core, file: "src/receiver/dedupe.ts" };
const receive = { ...core, file: "src/receiver/receive.ts" };
const wireTime = { ...core, file: "src/shared/wire-time.ts" };
const contract = { ...core, file: "src/domain/contract.ts" };
const receiver = { file: "test/kit/sample/receiver.ts", tests: ["kit/receiver"] };
const handlers = { file: "test/kit/sample/handlers.ts", tests: ["kit/handlers"] };

const ofTheCore: readonly Mutant[] = [
  {
    ...decide,
    name: "previousStatus ignored",
    find: "if (prev === status) return moves",
    replace: "if (prev === status && next === prev) return moves",
  },
  {
    ...decide,
    name: "what is ahead is not followed",
    find: 'return moves("gap");',
    replace: 'return stays("gap");',
  },
  {
    ...fold,
    name: "descriptive fields dropped",
    find: "Object.assign(contract, facts.metadata);",
    replace: "",
  },
  {
    ...fold,
    name: "the first reference stays",
    find: "if (facts.reference !== null) contract.reference = facts.reference;",
    replace: "contract.reference = null;",
  },
  {
    ...fold,
    name: "a milestone's payment is none",
    find: 'return event === "payment.completed" || event === "milestone.payment.completed";',
    replace: 'return event === "payment.completed";',
  },
  {
    ...fold,
    name: "a milestone's dispute is none",
    find: 'return event === "contract.disputed" || event === "milestone.disputed";',
    replace: 'return event === "contract.disputed";',
  },
  {
    ...moves,
    name: "a milestone's refund leaves its contract",
    find: "return status === null ? [] : [{ ...move(contractMachine, null, status, null), derived: true }];",
    replace: "return [];",
  },
  {
    ...moves,
    name: "the earlier edition's milestone stays",
    find: "return [...contractMove(facts, facts.status), ...impliedMove(facts)];",
    replace: "return contractMove(facts, facts.status);",
  },
  {
    ...moves,
    name: "the earlier edition's status is the milestone's",
    find: 'return familyOf(facts.event) === "refund" && facts.milestoneId !== null;',
    replace: 'return familyOf(facts.event) === "refund" && facts.milestoneId === "";',
  },
  {
    ...moves,
    name: "the type's status wins",
    find: "return contractMove(facts, facts.status ?? impliedStatus(facts.event));",
    replace: "return contractMove(facts, impliedStatus(facts.event) ?? facts.status);",
  },
  {
    ...refund,
    name: "a refund's second webhook takes its first time",
    find: ": { initiatedAt: known.initiatedAt ?? origin.at }),",
    replace: ": { initiatedAt: null }),",
  },
  {
    ...refund,
    name: "partial refunds count as full",
    find: 'const partial = { kind: "partial" } as const;',
    replace: 'const partial = { kind: "full" } as const;',
  },
  {
    ...refund,
    name: "milestones' refunds are the contract's",
    find: 'const isMilestones = milestoneId !== null || event.startsWith("milestone.");',
    replace: 'const isMilestones = event.startsWith("milestone.");',
  },
  {
    ...refund,
    name: "milestones' refunds are not recorded",
    find: '  "milestone.refund.full-succeeded": { ...full, phase: "succeeded" },',
    replace: "",
  },
  {
    ...payment,
    name: "payments keyed by milestone alone",
    find: "const paymentKey = recordKey(facts.milestoneId, paymentId);",
    replace: 'const paymentKey = recordKey(facts.milestoneId, "");',
  },
  {
    ...payment,
    name: "payments lose their invoice",
    find: "invoiceId: facts.invoiceId ?? known?.invoiceId ?? null,",
    replace: "invoiceId: known?.invoiceId ?? null,",
  },
  {
    ...payment,
    name: "disputes without an id are one",
    find: 'recordKey("at", milestoneId, origin.orderKey)',
    replace: 'recordKey("at", milestoneId)',
  },
  {
    ...parse,
    name: "the earlier edition's milestone is not read",
    find: "toId(data.milestoneId) ?? toId(metadata?.milestoneId)",
    replace: "toId(data.milestoneId)",
  },
  {
    ...parse,
    name: "a reference in the metadata is not read",
    find: "toText(data.reference) ?? toText(metadata?.reference) ?? null",
    replace: "toText(data.reference) ?? null",
  },
  {
    ...parse,
    name: "the envelope's time comes first",
    find: "parseWireTime(data.timestamp) ?? parseWireTime(createdAt)",
    replace: "parseWireTime(createdAt) ?? parseWireTime(data.timestamp)",
  },
  {
    ...parse,
    name: "amounts as text are none",
    find: 'typeof value === "string" || typeof value === "number" || value instanceof NumberText;',
    replace: 'typeof value === "number" || value instanceof NumberText;',
  },
  {
    ...parse,
    name: "the payload's id is not read",
    find: "payloadId: toId(id),",
    replace: "payloadId: toId(id) && null,",
  },
  {
    ...wireTime,
    name: "an offset is taken for UTC",
    find: 'return offset.startsWith("-") ? -minutes : minutes;',
    replace: "return minutes * 0;",
  },
  {
    ...wireTime,
    name: "times end at milliseconds",
    find: 'return digits.length <= keyLength ? digits.padEnd(keyLength, "0") : withoutTrailingZeros(digits);',
    replace: 'return digits.slice(0, 23).padEnd(keyLength, "0");',
  },
  {
    ...core,
    file: "src/domain/status.ts",
    name: "a status in another case is another",
    find: "return spellings[machine.entity].get(status.toLowerCase()) ?? status;",
    replace: "return spellings[machine.entity].get(status) ?? status;",
  },
  {
    ...contract,
    name: "a milestone's refund leaves the contract Refunded",
    find: '{ from: "RefundInProgress", event: "milestone.refund.full-succeeded", to: "Cancelled", source: "spec" },',
    replace:
      '{ from: "RefundInProgress", event: "milestone.refund.full-succeeded", to: "Refunded", source: "spec" },',
  },
  {
    ...verify,
    name: "any signature of the right length passes",
    find: "return timingSafeEqual(one, other) && candidate === digest;",
    replace: "return timingSafeEqual(one, other) || candidate.length === digest.length;",
  },
  {
    ...verify,
    name: "half of a signature passes",
    find: "return text.length === length ? text : undefined;",
    replace: 'return text.length >= 30 ? text.padEnd(length, "0").slice(0, length) : undefined;',
  },
  {
    ...verify,
    name: "any well-formed signature passes",
    find: "const secret = secrets.find(({ key }) => isAmong(claim.digests, digestOf(scheme, key, content)));",
    replace: "const secret = secrets[0];",
  },
  {
    ...verify,
    name: "hex in capitals alone",
    find: 'const text = encoding === "hex" ? value.toLowerCase() : value;',
    replace: "const text = value.toUpperCase();",
  },
  {
    ...core,
    file: "src/receiver/deliveries/copies.ts",
    name: "copies are not counted",
    find: "attempts: row.attempts + arrivals.length,",
    replace: "attempts: row.attempts,",
  },
  {
    ...dedupe,
    name: "a copy of what is quarantined is new",
    find: "return duplicateOf(arrival);\n  const [current]",
    replace: "return verdictOfNew(arrival);\n  const [current]",
  },
  {
    ...receive,
    name: "a GET is a delivery",
    find: "if (unfit !== undefined) return unfit;\n    enter",
    replace: "enter",
  },
  {
    ...receive,
    name: "unverified bodies are taken",
    find: 'if ("outcome" in verified) return refuse(retryIfDoubtful(verified, raw, request, read));',
    replace:
      'if ("outcome" in verified && verified.outcome === "failed") return refuse(retryIfDoubtful(verified, raw, request, read));',
  },
  {
    ...core,
    file: "src/mirror/options.ts",
    name: "bodies of 100 kB at most",
    find: "const maxBodyBytesDefault = 1_048_576;",
    replace: "const maxBodyBytesDefault = 102_400;",
  },
  {
    ...core,
    file: "src/handlers/runner/ending.ts",
    name: "a failed handler is not run again",
    find: 'const isOver = nameOf(result.error) === "PermanentError" ||',
    replace: 'const isOver = result.is === "failed" ||',
  },
  {
    ...core,
    file: "src/handlers/runner/run.ts",
    name: "the idempotency key changes with each attempt",
    find: "idempotencyKey: `${handler}:${jobKey}`,",
    replace: "idempotencyKey: `${handler}:${jobKey}:${attempts}`,",
  },
  {
    ...core,
    file: "src/handlers/subscription.ts",
    name: "handlers of everything hear of nothing",
    find: 'return events.includes("*") || events.includes(event);',
    replace: "return events.includes(event);",
  },
];

const ofThePeople: readonly Mutant[] = [
  { ...receiver, name: "receiver: no dedupe", find: "if (database.seen.has(key)) return;", replace: "" },
  {
    ...receiver,
    name: "receiver: dedupe by the unsigned id",
    find: "const key = digest;",
    replace: "const key = webhookId;",
  },
  {
    ...receiver,
    name: "receiver: remembers in one step, takes effect in another",
    find: "  store();\n",
    replace: "  setTimeout(store, 20);\n",
  },
  {
    ...receiver,
    name: "receiver: 200 before commit",
    find: "  store();\n",
    replace: "  pending.push(store);\n  setTimeout(() => pending.splice(0).forEach((each) => each()), 30);\n",
  },
  {
    ...receiver,
    name: "receiver: trusts the order of arrival",
    find: "status !== undefined && at > order.statusAt",
    replace: "status !== undefined",
  },
  {
    ...receiver,
    name: "receiver: a milestone's status is its contract's",
    find: 'const isContracts = !event.event.startsWith("milestone.");',
    replace: "const isContracts = true;",
  },
  {
    ...receiver,
    name: "receiver: refunds matched by contract only",
    find: 'order.refunds[transactionId] = "succeeded";',
    replace: 'for (const id in order.refunds) order.refunds[id] = "succeeded";',
  },
  {
    ...receiver,
    name: "receiver: money in floats",
    find: 'return Number(whole) * 100 + Number(decimals.padEnd(2, "0").slice(0, 2));',
    replace: "return Number(`${whole}.${decimals}`) * 100;",
  },
  {
    ...receiver,
    name: "receiver: a prefix of the signature passes",
    find: "return given.length === expected.length && timingSafeEqual(given, expected);",
    replace: "return given.length > 0 && timingSafeEqual(given, expected.subarray(0, given.length));",
  },
  {
    ...receiver,
    name: "receiver: a signature of another length throws",
    find: "given.length === expected.length && timingSafeEqual",
    replace: "timingSafeEqual",
  },
  {
    ...receiver,
    name: "receiver: a missing signature is only warned about",
    find: 'if (typeof header !== "string") return false;',
    replace: 'if (typeof header !== "string") return true;',
  },
  {
    ...receiver,
    name: "receiver: 400 for authentic junk",
    find: '      database.odd.push(body.toString("latin1"));\n      return 200;',
    replace: '      database.odd.push(body.toString("latin1"));\n      return 400;',
  },
  {
    ...receiver,
    name: "receiver: signs what JSON.stringify gives back",
    find: 'createHmac("sha256", secret).update(body)',
    replace: 'createHmac("sha256", secret).update(JSON.stringify(JSON.parse(body.toString() || "0")))',
  },
  {
    ...receiver,
    name: "receiver: a late first event sets a refund back",
    find: 'order.refunds[transactionId] ??= "initiated"',
    replace: 'order.refunds[transactionId] = "initiated"',
  },
  {
    ...receiver,
    name: "receiver: 409 for a copy",
    find: "    commit(database,",
    replace: "    if (database.seen.has(digestOf(body))) return 409;\n    commit(database,",
  },
  {
    ...receiver,
    name: "receiver: bodies of 100 kB at most",
    find: "const bodyBytesMax = 1_048_576;",
    replace: "const bodyBytesMax = 102_400;",
  },
  {
    ...handlers,
    name: "handlers: ships on every attempt",
    find: "shipped.set(`${contractId} ${paymentId}`, contractId);",
    replace: "shipped.set(`${shipped.size}`, contractId);",
  },
  {
    ...handlers,
    name: "handlers: the last event's own status",
    find: "async ({ contractId }, { contract }) => {\n      if (contract !== undefined) status.set(contractId, contract.status);",
    replace: "async ({ contractId, status: last }) => {\n      status.set(contractId, String(last));",
  },
  {
    ...handlers,
    name: "handlers: refunds matched by contract only",
    find: "booked.set(`refund ${contractId} ${transactionId}`,",
    replace: "booked.set(`refund ${contractId}`,",
  },
  {
    ...handlers,
    name: "handlers: the earlier edition's partial refunds forgotten",
    find: '  "refund.partial-succeeded",\n',
    replace: "",
  },
  {
    ...handlers,
    name: "handlers: milestones' payments counted twice",
    find: '    "payment.completed",\n    async ({ contractId, paymentId, amountMinor }) => {',
    replace:
      '    ["payment.completed", "milestone.payment.completed"],\n    async ({ contractId, paymentId, amountMinor }) => {',
  },
  {
    ...handlers,
    name: "handlers: money in floats",
    find: 'amountMinor: amountMinor ?? 0 });\n    },\n    { name: "ledger-in" }',
    replace: 'amountMinor: ((amountMinor ?? 0) / 100) * 1.1 * 100 });\n    },\n    { name: "ledger-in" }',
  },
];

export const kitMutants: readonly Mutant[] = [
  ...mutants.filter(({ name }) => ofOurSuite.has(name)).map((mutant) => ({ ...mutant, ...core })),
  ...ofTheCore,
  ...ofThePeople,
];
