import { printLives } from "./print.ts";
import { runLives } from "./lives.ts";
import { runRecorded } from "./recorded.ts";
import { next, partOne, partTwo } from "./texts.ts";

const print = (line: string): void => console.log(line);

print(partOne);
await runRecorded(print);
print(partTwo);
const report = await runLives(print);
printLives(report, print);
print(next);
process.exitCode = report.unexplained.length > 0 ? 1 : 0;
