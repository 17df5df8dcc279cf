import type { Clock } from "../../shared/clock.ts";
import type { ContractInput } from "./input.ts";

const dayMs = 24 * 60 * 60 * 1_000;

/** For those who want to see something before their own application is there. */
export function exampleContract(clock: Clock): ContractInput {
  const dueIn = (days: number): string =>
    `${new Date(clock.now() + days * dayMs).toISOString().slice(0, 10)}T00:00:00Z`;
  return {
    title: "Website for Alia's bakery",
    contractServiceType: "Service",
    reference: "example",
    amount: 1_000,
    buyerParty: { phoneNumber: "+966500000001", firstName: "Alia", lastName: "Hassan" },
    sellerParty: { phoneNumber: "+966500000002", firstName: "Badr", lastName: "Saleh" },
    milestones: [
      { name: "Design", amount: 600, dueDate: dueIn(30) },
      { name: "Build", amount: 400, dueDate: dueIn(60) },
    ],
  };
}
