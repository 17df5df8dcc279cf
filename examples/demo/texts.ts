/** What the demo says by itself: before each part, and at the end. */

export const partOne = `PART 1. Recorded webhooks, each sent twice and in random order

The service's signed webhooks come to an Express server with a mirror. Whatever their order,
contracts, refunds, history and quarantine come out the same: run it again and compare.
`;

export const partTwo = `

PART 2. Twenty contracts through whole lives, over a bad line

The sandbox plays the service: its contracts are paid, disputed, refunded, completed or rejected.
On the way to the mirror webhooks are doubled, overtake one another and get lost, and for an hour
nobody receives them. In the end each contract is compared with the service's own truth.
`;

export const next = `
What next? Mount it in your own app: README.md, "Mount it". No account at the service yet? Run the
one of part 2 on your machine: README.md, "No test account?".`;
