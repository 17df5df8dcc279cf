import type { Api } from "./api.ts";
import { contractOf, createdContract, createdRefund, renewedCheckout } from "./answer/read.ts";
import type { Contract, CreatedContract, CreatedRefund, RenewedCheckout } from "./answer/contract.ts";
import { hideSecrets } from "./hide-secrets.ts";
import type { CallOptions } from "./http/call.ts";
import { checkInput } from "./input/check.ts";
import { contractSchema } from "./input/contract-input.ts";
import type { ContractInput } from "./input/contract-input.ts";
import { contractId as idSchema } from "./input/fields.ts";
import { refundSchema } from "./input/refund-input.ts";
import type { RefundInput } from "./input/refund-input.ts";
import { checkoutSchema } from "./input/user-input.ts";
import type { CheckoutInput } from "./input/user-input.ts";

/** Calls about contracts. Each rejects with an `EscrowApiError`. */
export interface ContractCalls {
  /**
   * Creates a contract. The request is never sent twice. Without a clear answer the call rejects with `outcome-unknown`.
   * Give a `reference`: the webhook `contract.created` carries it, and so proves that the contract exists.
   */
  create(input: ContractInput, options?: CallOptions): Promise<CreatedContract>;
  /** Reads a contract. Rejects with `error-response` and status 404 if there is none. */
  get(contractId: string, options?: CallOptions): Promise<Contract>;
  /** Makes a new payment page, which works for ten minutes. The old page stops at once. */
  renewCheckout(contractId: string, input: CheckoutInput, options?: CallOptions): Promise<RenewedCheckout>;
  /**
   * Refunds the buyer, for the contract or one milestone. The request is never sent twice. Without a clear answer the call
   * rejects with `outcome-unknown`.
   */
  refund(contractId: string, input: RefundInput, options?: CallOptions): Promise<CreatedRefund>;
}

export function contractCalls(api: Api): ContractCalls {
  return {
    create: async (input, options) => {
      const body = checkInput("contracts.create", contractSchema, input);
      const { reference } = body;
      return api.send(
        {
          name: "contracts.create",
          method: "POST",
          path: "/contracts",
          body,
          read: createdContract,
          findOut: findCreated(reference),
        },
        options,
      );
    },
    get: async (contractId, options) => {
      const id = checkInput("contracts.get", idSchema, contractId);
      return api.send(
        { name: "contracts.get", method: "GET", path: `/contracts/${id}`, read: contractOf(id) },
        options,
      );
    },
    renewCheckout: async (contractId, input, options) => {
      const id = checkInput("contracts.renewCheckout", idSchema, contractId);
      const checked = checkInput("contracts.renewCheckout", checkoutSchema, input);
      return api.send(
        {
          name: "contracts.renewCheckout",
          method: "POST",
          path: "/contracts/checkout",
          body: { ...checked, externalContractId: id },
          read: renewedCheckout,
          findOut: "Calling it again is safe: the last payment page is the one that works.",
        },
        options,
      );
    },
    refund: async (contractId, input, options) => {
      const id = checkInput("contracts.refund", idSchema, contractId);
      const body = checkInput("contracts.refund", refundSchema, input);
      return api.send(
        {
          name: "contracts.refund",
          method: "POST",
          path: `/contracts/${id}/refund`,
          body,
          read: createdRefund,
          findOut: `Read the contract with contracts.get("${id}"). If the status of the contract or of the milestone is refundinprogress, refunded or partiallyrefunded, the refund was begun. Its webhook proves the same: refund.full-initiated, refund.partial-initiated or milestone.refund.full-initiated.`,
        },
        options,
      );
    },
  };
}

function findCreated(reference: string | null | undefined): string {
  const which = reference
    ? `the reference ${JSON.stringify(hideSecrets(reference))}`
    : "the same amount and metaData, as the contract has no reference";
  return `Wait for the webhook contract.created with ${which}. The service has no list of contracts: if the webhook was lost too, ask the service.`;
}
