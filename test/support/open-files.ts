import { readdirSync, readlinkSync } from "node:fs";

/** How many of this process's descriptors are of the file, its log and its index of that. */
export function openFiles(file: string): number {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(file)).length;
}
