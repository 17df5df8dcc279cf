import type { CompiledQuery } from "kysely";
import { EscrowMirrorError } from "../../shared/errors.ts";

/**
 * Refuses what a query builder of `mirror.db` would write, before the database tells of it in words of its own. Raw SQL is left to
 * the connection.
 *
 * @throws EscrowMirrorError `invalid-argument`
 */
export function refuseWrite({ query }: CompiledQuery): void {
  if (query.kind === "SelectQueryNode" || query.kind === "RawNode") return;
  throw new EscrowMirrorError(
    "invalid-argument",
    "mirror.db can only read: write to your own tables through a connection of your own, or with mirror.inTransaction",
  );
}
