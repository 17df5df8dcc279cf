/** The faults that are planted: each is one exact replacement in one file, and the test files that must notice it. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
}

const decide = { file: "src/domain/decide.ts", tests: ["domain/decide"] };
const dedupe = { file: "src/receiver/dedupe.ts", tests: ["receiver/dedupe"] };
const deliveryRow = { file: "src/receiver/deliveries/delivery-row.ts", tests: ["receiver/dedupe"] };
const receive = { file: "src/receiver/receive.ts" };
const sqliteTables = { file: "src/store/sql/migrations/0001-initial.ts", tests: ["store/sqlite/indexes"] };
const verdict = { file: "src/client/http/verdict.ts", tests: ["client/verdict"] };
const payload = { file: "src/store/payload.ts", tests: ["retention/prune"] };
const prune = { file: "src/retention/prune.ts", tests: ["retention/prune"] };
const proof = { file: "src/receiver/secrets/proof.ts", tests: ["receiver/verify"] };

export const mutants: readonly Mutant[] = [
  {
    ...dedupe,
    name: "dedupe off",
    find: "inserted[index] === true);\n  const taken = ordered.filter((_, index) => inserted[index] !== true);",
    replace: "inserted[index] !== undefined);\n  const taken: DeliveryArrival[] = [];",
  },
  {
    name: "content check off",
    file: "src/store/tables/deliveries.ts",
    find: 'unique: ["contentKey", "payloadId"],',
    replace: 'unique: ["payloadId"],',
    tests: ["receiver/dedupe"],
  },
  {
    ...dedupe,
    name: "second content wins",
    find: 'await keepBeside(tx, arrival, "payload-changed", twin);\n    return { outcome: "duplicate"',
    replace: 'return { outcome: "applied"',
  },
  {
    ...deliveryRow,
    name: "payload id not claimed",
    find: 'toFactColumns(arrival.reading.facts, judgement.outcome === "applied")',
    replace: "toFactColumns(arrival.reading.facts, false)",
  },
  {
    ...deliveryRow,
    name: "a duplicate claims the ids that it came with",
    find: 'toFactColumns(arrival.reading.facts, judgement.outcome === "applied")',
    replace: "toFactColumns(arrival.reading.facts, true)",
  },
  {
    ...dedupe,
    name: "a conflict counts as a duplicate",
    find: "row !== undefined && isSameSubject(row, facts));",
    replace: "row !== undefined);",
  },
  {
    name: "tie by arrival",
    file: "src/domain/order.ts",
    find: "return yield* sortInSteps(queue, compareTied);",
    replace: "return queue;",
    tests: ["domain/order"],
  },
  {
    name: "refund keyed by amount",
    file: "src/domain/refund.ts",
    find: "const known = draft.refunds.get(transactionId) ??",
    replace:
      "const known = [...draft.refunds.values()].find(({ amountMinor }) => amountMinor === facts.amountMinor) ??",
    tests: ["domain/refund"],
  },
  {
    name: "the legacy contract.refunded counts as a refund's own event",
    file: "src/domain/refund.ts",
    find: '  "refund.full-succeeded": { ...full, phase: "succeeded" },',
    replace:
      '  "refund.full-succeeded": { ...full, phase: "succeeded" },\n  "contract.refunded": { ...full, phase: "succeeded" },',
    tests: ["domain/refund"],
  },
  {
    ...decide,
    name: "stale wins",
    find: "if (reachable(machine, next, status) && withinSkew(standing, claim.orderKey, skewMs)) return stays(null);",
    replace: "if (withinSkew(standing, claim.orderKey, skewMs) && status === next) return stays(null);",
  },
  {
    ...decide,
    name: "terminal reopened",
    find: "if (machine.terminal.includes(status) && !standing.derived)",
    replace: "if (machine.terminal.includes(status) && standing.derived && !standing.derived)",
  },
  { ...decide, name: "gap unnoticed", find: 'return moves("gap");', replace: "return moves(null);" },
  { ...decide, name: "skew ignored", find: "<= skewMs;", replace: "<= skewMs * Number.POSITIVE_INFINITY;" },
  {
    ...decide,
    name: "snapshot outranks event",
    find: 'olderThanMove || behind ? stays("stale-read")',
    replace: 'olderThanMove && behind && status === claim.next ? stays("stale-read")',
  },
  {
    name: "a late event is not refolded",
    file: "src/receiver/transition.ts",
    find: 'facts.orderKey > (contract?.lastKey ?? "")',
    replace: 'facts.orderKey !== (contract?.lastKey ?? "")',
    tests: ["queries/contracts"],
  },
  {
    name: "a webhook clears fields",
    file: "src/domain/fold.ts",
    find: "if (facts.reference !== null) contract.reference",
    replace: "contract.reference",
    tests: ["domain/fold"],
  },
  {
    name: "any event sets the contract's amount",
    file: "src/domain/fold.ts",
    find: 'if (facts.event !== "contract.created") return;',
    replace: "",
    tests: ["domain/fold"],
  },
  {
    name: "the contract follows the milestone's previousStatus",
    file: "src/domain/moves.ts",
    find: "move(contractMachine, null, status, null)",
    replace: "move(contractMachine, null, status, facts.previousStatus)",
    tests: ["domain/fold"],
  },
  {
    ...receive,
    name: "ack before commit",
    find: "const verdict = await intake.submit(arrival, bytes);",
    replace:
      'const taken = intake.submit(arrival, bytes);\n    const verdict = taken && ({ outcome: "applied", webhookId: webhookIdOf(arrival) } as const);',
    tests: ["receiver/intake"],
  },
  {
    name: "a bad delivery fails its neighbours",
    file: "src/receiver/batch.ts",
    find: "if (isOwn(done.error) && batch.length > 1) {",
    replace: "if (isOwn(done.error) && batch.length < 1) {",
    tests: ["receiver/intake"],
  },
  {
    name: "a fault of the store is taken for a delivery's own",
    file: "src/receiver/batch.ts",
    find: 'return reasonOf(error) === "internal-error";',
    replace: 'return reasonOf(error) !== "closed";',
    tests: ["receiver/deliveries/unstorable"],
  },
  {
    name: "what can't be applied is refused for ever",
    file: "src/receiver/deliveries/unstorable.ts",
    find: 'known.reason === "unstorable" && known.attempts === 1',
    replace: 'known.reason === "unstorable" && known.attempts > 1',
    tests: ["receiver/deliveries/unstorable"],
  },
  {
    ...dedupe,
    name: "what could not be applied is never tried again",
    find: 'if (current.reason === "unstorable") return tryAgain(tx, current, arrival);',
    replace: 'if (current.reason === "unstorable") return duplicateOf(arrival);',
    tests: ["receiver/deliveries/unstorable"],
  },
  {
    ...receive,
    name: "closing drops what is in flight",
    find: "await Promise.all(inFlight);",
    replace: "",
    tests: ["mirror/mirror"],
  },
  {
    name: "a queue without a bound",
    file: "src/receiver/intake.ts",
    find: "if (closed || queue.length >= limits.itemsMax || queuedBytes + bytes > limits.bytesMax)",
    replace: "if (closed)",
    tests: ["receiver/intake"],
  },
  {
    name: "float money",
    file: "src/shared/money.ts",
    find: "const magnitude = exponent >= 0 ? scaleUp(decimal.digits, exponent) : roundDown(decimal.digits, -exponent);",
    replace: "const magnitude = Math.round(Math.abs(Number(decimalText)) * 100);",
    tests: ["shared/money"],
  },
  {
    ...proof,
    name: "secret proof ignored",
    find: 'return secrets.some(({ fingerprint }) => !proven.has(fingerprint)) ? "secret-unproven" : undefined;',
    replace: 'return secrets.length === 0 ? "secret-unproven" : undefined;',
  },
  {
    ...proof,
    name: "an open rotation ignored",
    find: 'if (isOpen(rotation, clock.now())) return "rotation-open";',
    replace: 'if (isOpen(rotation, clock.now()) && rotating) return "rotation-open";',
  },
  {
    name: "quarantine rejected as 400",
    file: "src/receiver/outcome.ts",
    find: 'case "quarantined":\n      return 200;',
    replace: 'return 200;\n    case "quarantined":\n      return 400;',
    tests: ["receiver/receive"],
  },
  {
    name: "forged requests turn health",
    file: "src/mirror/health.ts",
    find: "const ok = found.ok && !isDisabled && consecutiveFailures",
    replace: "const ok = found.ok && !isDisabled && warnings.length === 0 && consecutiveFailures",
    tests: ["mirror/warnings"],
  },
  {
    name: "a signature stored beside its body",
    file: "src/receiver/parse.ts",
    find: "for (const name of keptHeaders) {",
    replace: "for (const name of headers.keys()) {",
    tests: ["receiver/receive"],
  },
  {
    ...sqliteTables,
    name: "payload ids not unique on SQLite",
    find: "`payload_id ${text} unique`",
    replace: "`payload_id ${text}`",
  },
  {
    name: "a moved file goes unnoticed",
    file: "src/store/sqlite/engine.ts",
    find: "checkPlace();",
    replace: "",
    tests: ["store/sqlite/moved-file"],
  },
  {
    name: "SQLite's statistics decide",
    file: "src/store/sqlite/selective.ts",
    find: "sql<SqlBool>`likelihood(${condition}, 0.000001)`",
    replace: "sql<SqlBool>`(${condition})`",
    tests: ["store/sqlite/indexes"],
  },
  {
    name: "a reset counts as nothing sent",
    file: "src/client/http/exchange.ts",
    find: 'return code !== "ECONNRESET";',
    replace: "return true;",
    tests: ["client/exchange"],
  },
  { ...verdict, name: "408 counts as done nothing", find: "return status !== 408;", replace: "return true;" },
  {
    ...verdict,
    name: "an unreadable success of a create is no matter",
    find: 'if (request.repeat === "unsent") return unknown(request, what, { status });',
    replace: "",
  },
  {
    ...verdict,
    name: "a create without an answer is repeated",
    find: 'if (maySent && request.repeat === "unsent") return unknown(request, what, details);',
    replace: "",
  },
  {
    name: "the call's own secrets stay in errors",
    file: "src/client/hide-secrets.ts",
    find: "for (const secret of secrets) for (const form of spellings(secret)) safe = safe.replaceAll(form, hidden);",
    replace: "",
    tests: ["client/hide-secrets"],
  },
  {
    name: "milestones below the contract's amount pass",
    file: "src/client/input/contract-input.ts",
    find: "if (sum === BigInt(total.minor)) return;",
    replace: "if (sum <= BigInt(total.minor)) return;",
    tests: ["client/inputs"],
  },
  {
    name: "Retry-After without a limit",
    file: "src/client/http/backoff.ts",
    find: "Math.min(Math.max(asked, 0), waitMsMax)",
    replace: "Math.max(asked, 0)",
    tests: ["client/backoff"],
  },
  {
    name: "a contract id climbs out of its path",
    file: "src/client/input/fields.ts",
    find: "&& !/^\\.+$/.test(value)",
    replace: "",
    tests: ["client/inputs"],
  },
  {
    name: "a page that found little says that it is the last",
    file: "src/queries/page.ts",
    find: "all.length > limit ? items.at(-1)?.place : end;",
    replace: "all.length > limit ? items.at(-1)?.place : undefined;",
    tests: ["queries/pages"],
  },
  {
    name: "a cursor of another filter is followed",
    file: "src/queries/page.ts",
    find: "list.paths[Number(index)] === path",
    replace: "true",
    tests: ["queries/pages"],
  },
  {
    name: "a cursor that was made up leads out of the filter",
    file: "src/store/sql/walks.ts",
    find: "after === undefined || !isInside",
    replace: "after === undefined",
    tests: ["queries/pages"],
  },
  {
    name: "a value of an index is an equality",
    file: "src/store/sql/walks.ts",
    find: "if (longKey !== null && of?.value != null && isLong(table, of.field))",
    replace: "if (of?.value != null)",
    tests: ["queries/plans"],
  },
  {
    name: "a filter without an index",
    file: "src/queries/refunds.ts",
    find: '{ by: ["changedAt", "contractId", "refundKey"], bounded: true },',
    replace: "",
    tests: ["queries/plans"],
  },
  {
    name: "a redaction is forgotten in a refold",
    file: "src/domain/fold.ts",
    find: "redactedAt === null ? inputs : inputs.map(redactInput);",
    replace: "inputs;",
    tests: ["domain/redaction"],
  },
  {
    name: "a redaction is forgotten by later deliveries",
    file: "src/receiver/contracts/redacted.ts",
    find: "if (![...contracts.keys()].some(isRedacted)) return news;",
    replace: "return news;",
    tests: ["retention/prune"],
  },
  {
    ...prune,
    name: "prune takes the facts too",
    find: "return old.length;",
    replace:
      'await tx.updateEach("deliveries", "contentKey", old.map((contentKey) => ({ contentKey, facts: null })));\n  return old.length;',
  },
  {
    ...prune,
    name: "prune takes the body of an open job",
    find: "ofOutcome.map(({ contentKey }) => contentKey), ...owed]",
    replace: "ofOutcome.map(({ contentKey }) => contentKey)]",
  },
  {
    ...payload,
    name: "prune takes the body of what is quarantined",
    find: 'keptOutcomes = ["quarantined"]',
    replace: "keptOutcomes = []",
  },
  {
    ...payload,
    name: "prune keeps the body of what is dismissed",
    find: 'keptOutcomes = ["quarantined"]',
    replace: 'keptOutcomes = ["quarantined", "dismissed"]',
  },
  {
    name: "anybody lets a lease go",
    file: "src/healing/lease.ts",
    find: "if (row?.holder === holder)",
    replace: "if (row !== undefined)",
    tests: ["healing/leases"],
  },
  {
    name: "a lease is asked for, and held by another",
    file: "src/testing/plain-queue.ts",
    find: "if (known !== undefined && known.holder !== holder && known.heldUntil >= nowPlus(0)) return false;",
    replace: "",
    tests: ["healing/leases"],
  },
  {
    name: "a new secret puts the old one out of use before it is saved",
    file: "src/receiver/secrets/live-secrets.ts",
    find: "[...secrets, adopted]",
    replace: "[adopted]",
    tests: ["healing/both-secrets"],
  },
  {
    name: "one day of deliveries makes the next one's silence odd",
    file: "src/healing/silence.ts",
    find: "const daysBack = 7;",
    replace: "const daysBack = 1;",
    tests: ["healing/silence"],
  },
  {
    name: "silence is told of while every contract has ended",
    file: "src/healing/silence.ts",
    find: "return (await hasProgress(reader)) ? last : undefined;",
    replace: "return last;",
    tests: ["healing/silence"],
  },
  {
    name: "an answer outranks the events that passed while it was on the way",
    file: "src/reconcile/snapshot-of.ts",
    find: "dateMs - Math.max(0, info?.tookMs ?? 0)",
    replace: "dateMs",
    tests: ["reconcile/drift"],
  },
  {
    name: "the report of drift forgets a field",
    file: "src/reconcile/drift.ts",
    find: '"businessName", "serviceType"] as const;',
    replace: '"businessName"] as const;',
    tests: ["reconcile/drift"],
  },
  {
    name: "a stale read is not repeated",
    file: "src/reconcile/reconcile.ts",
    find: "else stale.push(contractId);",
    replace: "",
    tests: ["reconcile/many"],
  },
  {
    name: "the token follows a redirect",
    file: "src/client/http/exchange.ts",
    find: 'redirect: "manual", signal',
    replace: 'redirect: "follow", signal',
    tests: ["client/answers"],
  },
  {
    name: "a token that was refused is used again",
    file: "src/client/http/call.ts",
    find: "tokens?.drop(token);",
    replace: "",
    tests: ["client/tokens"],
  },
];
