import { printLives } from "./print.ts";
import { runLives } from "./lives.ts";
import { runRecorded } from "./recorded.ts";

const print = (line: string): void => console.log(line);

print(`PART 1. Recorded webhooks, each sent twice and in random order

The service's signed webhooks come to an Express server with a mirror. Whatever their order, the contracts,
refunds and history below come out the same: run it again and compare.
`);
await runRecorded(print);

print(`

PART 2. Twenty contracts through whole lives, over a bad line

The sandbox plays the service: its contracts are paid, disputed, refunded, completed or rejected. On the way
to the mirror webhooks are doubled, overtake one another and get lost, and for an hour nobody receives them.
In the end each contract is compared with the service's own truth.
`);
const report = await runLives(print);
printLives(report, print);
process.exitCode = report.unexplained.length > 0 ? 1 : 0;
