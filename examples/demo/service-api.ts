import type { Sandbox } from "escrow-mirror/sandbox";

/** The two calls of the API that the demo needs. */
export interface Caller {
  createContract(index: number): Promise<string>;
  refund(contractId: string, milestoneId?: string): Promise<void>;
}

export async function connect(sandbox: Sandbox): Promise<Caller> {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: sandbox.clientId,
    client_secret: sandbox.clientSecret,
  });
  const answer = await fetch(`${sandbox.authUrl}/connect/token`, { method: "POST", body: form });
  const { access_token: token } = (await answer.json()) as { access_token: string };

  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${sandbox.baseUrl}/apps/api/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: Record<string, unknown> }).data;
  };

  return {
    createContract: async (index) => String((await post("contracts", toContract(index)))["contractId"]),
    refund: async (contractId, milestoneId) => {
      const target = milestoneId === undefined ? {} : { milestoneId: Number(milestoneId) };
      await post(`contracts/${contractId}/refund`, { ...target, reason: "the buyer changed their mind" });
    },
  };
}

/** The third of every five contracts has milestones. One of them will be refunded. */
function toContract(index: number) {
  const milestones = [
    { Name: "Design", Amount: 400, DueDate: "2026-12-01T00:00:00Z" },
    { Name: "Delivery", Amount: 600, DueDate: "2027-01-01T00:00:00Z" },
  ];
  return {
    title: `Order ${index + 1}`,
    contractServiceType: "Service",
    amount: 1000,
    reference: `order-${index + 1}`,
    BuyerParty: { phoneNumber: `+96650000${String(1000 + index)}`, firstName: "Sara", lastName: "A" },
    SellerParty: { phoneNumber: `+96655000${String(1000 + index)}`, firstName: "Omar", lastName: "B" },
    ...(index % 5 === 2 ? { Milestones: milestones } : {}),
  };
}
