import { printLives } from "./print.ts";
import { runLives } from "./lives.ts";
import { runRecorded } from "./recorded.ts";

const print = (line: string): void => console.log(line);

print("1. Recorded deliveries, each sent twice and in shuffled order\n");
await runRecorded(print);

print("\n\n2. Twenty contracts through whole lives, with duplicates, reordering, drops and an outage\n");
const report = await runLives(print);
printLives(report, print);
process.exitCode = report.unexplained.length > 0 ? 1 : 0;
