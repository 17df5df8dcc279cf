/** The package better-sqlite3 as an optional peer: what keeps the copy that would be loaded from being used, and the fix. */
import { createRequire } from "node:module";
import process from "node:process";

/** The part of a package's manifest that is read before it is loaded. */
export interface Manifest {
  readonly version?: unknown;
  readonly engines?: { readonly node?: unknown };
}

/**
 * Looked at before it is loaded: a version for a newer Node ends the process there, without a word, and an installer may
 * have ignored what it asks for.
 *
 * @returns what is wrong and what to install; `undefined` where nothing is known to be
 */
export function unfitDriver(
  manifest: Manifest | undefined = readManifest(),
  node: string = process.versions.node,
): string | undefined {
  const version = typeof manifest?.version === "string" ? manifest.version : undefined;
  if (version === undefined) return undefined;
  if (majorOf(version) < versionMin)
    return `is ${version}, and ${versionMin} or newer is needed: npm install better-sqlite3@${versionMin}`;
  const nodeMin = nodeMinOf(manifest?.engines?.node);
  if (majorOf(node) >= nodeMin) return undefined;
  return `is ${version}, which needs Node ${nodeMin} or newer, and this is Node ${node}: npm install better-sqlite3@${versionMin}, or use a newer Node`;
}

/** Its native part is not there, or of another Node. */
export function isUnbuilt(error: unknown): boolean {
  return error instanceof Error && /bindings file|NODE_MODULE_VERSION|ERR_DLOPEN/.test(error.message);
}

/** For a package that is there and can't be used. */
export const buildAdvice =
  "is not built for this Node: npm rebuild better-sqlite3, and allow its install script (npm install-scripts approve better-sqlite3)";

/** The oldest version that we use, which runs on every Node that we do. */
const versionMin = 12;

/** A bundle may have no place of its own to look from: then the import says what is wrong. */
function readManifest(): Manifest | undefined {
  try {
    return createRequire(import.meta.url)("better-sqlite3/package.json") as Manifest;
  } catch {
    return undefined;
  }
}

/** The oldest of the alternatives: `20.x || 22.x`, `>=22`. */
function nodeMinOf(range: unknown): number {
  if (typeof range !== "string") return 0;
  return Math.min(...range.split("||").map(majorOf));
}

function majorOf(version: string): number {
  return Number(/\d+/.exec(version)?.[0] ?? 0);
}
