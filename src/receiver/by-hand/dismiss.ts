import { EscrowMirrorError } from "../../shared/errors.ts";
import type { Store } from "../../store/store.ts";
import { heavyFields } from "../../store/tables/deliveries.ts";

/**
 * Takes a quarantined delivery out of what waits for a person. It stays stored: a copy of it is a duplicate, and it can still
 * be released.
 *
 * @throws EscrowMirrorError `invalid-argument` for an id that is no text; `not-found`
 */
export async function dismiss(store: Store, id: string): Promise<void> {
  if (typeof id !== "string")
    throw new EscrowMirrorError("invalid-argument", `an id must be text, ${typeof id} was given`);
  await store.transaction(async (tx) => {
    const [row] = await tx.lock("deliveries", "id", [id], heavyFields);
    if (row?.outcome === "dismissed") return;
    if (row?.outcome !== "quarantined")
      throw new EscrowMirrorError(
        "not-found",
        `no quarantined delivery has the id ${id}: pass the id, not the webhookId, of an item of mirror.quarantine.list()`,
      );
    await tx.updateEach("deliveries", "id", [{ id, outcome: "dismissed" }]);
  });
}
