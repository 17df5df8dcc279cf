/** The demo's own texts: before each part, and at the end. */

export const partOne = `PART 1. Recorded webhooks, each sent twice and in random order

An Express server with a mirror receives the service's signed webhooks. Whatever their order,
contracts, refunds, history and quarantine come out the same: run it again and compare.
`;

export const partTwo = `

PART 2. Twenty contracts through whole lives, over a bad line

The sandbox plays the service. Its contracts are paid, disputed, refunded, completed or rejected.
Some webhooks arrive twice, in the wrong order, or never. For an hour nobody receives them.
At the end each contract is compared with the service's own.
`;

export const next = `
What next? Mount it in your own app: docs/receive.md. No account at the service yet? Run the
sandbox of part 2 on your machine: docs/testing-with-the-sandbox.md.`;
