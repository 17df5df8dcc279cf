import { Command } from "commander";
import { diagnoseMismatch } from "../signature/diagnose.ts";
import type { Diagnosis } from "../signature/diagnosis.ts";
import {
  defaultHeaderPrefix,
  resolveScheme,
  signaturePresets,
  type ResolvedScheme,
  type SignaturePreset,
} from "../signature/scheme.ts";
import { groupBy } from "../shared/group-by.ts";
import { prepareSecrets } from "../signature/secret.ts";
import { createVerifier, type SignedRequest } from "../signature/verify.ts";
import { Misuse, orExplain } from "./lib/explain.ts";
import { readInput } from "./lib/input.ts";
import { loadSecrets } from "./lib/secrets.ts";
import { wrapHelp } from "./lib/wrap.ts";

const help = `
The headers' file holds lines of "Name: value", as curl -v and most loggers print them, or one
JSON object. The body's file holds the bytes as they came: an editor that adds a last newline
changes them.

The secret comes from ESCROW_WEBHOOK_SECRET, from --secrets-file (lines of NAME=value), or from
--secret-file (the secret alone; - reads it from standard input). It is never given on the command
line, and never printed.

Exit codes: 0 a scheme fits, 1 none does (the reason is printed), 2 the input can't be used.

Examples:
  # what a captured request is signed with
  escrow-mirror signature detect --body body.bin --headers headers.txt`;

interface Flags {
  readonly body: string;
  readonly headers: string;
  readonly secretFile?: string;
  readonly secretsFile?: string;
  readonly json?: boolean;
}

/** The findings about one captured request. */
type Detection =
  | {
      readonly fits: true;
      readonly signature: SignaturePreset;
      readonly headerPrefix: string;
      readonly advice: string;
    }
  | { readonly fits: false; readonly cause: string; readonly advice: string };

/** `escrow-mirror signature`: finds out why a signature is not accepted. */
export function signatureCommand(): Command {
  const command = new Command("signature").description("Check signatures of webhooks.");
  return command.addCommand(
    new Command("detect")
      .description("Find the scheme that a captured request is signed with, or what is wrong with it.")
      .requiredOption("-b, --body <file>", "the body, byte for byte as it was received")
      .requiredOption("-H, --headers <file>", "the request's headers")
      .option("--secret-file <file>", "the signing secret alone in a file; - is standard input")
      .option("--secrets-file <file>", "secrets as NAME=value lines, ESCROW_WEBHOOK_SECRET among them")
      .option("--json", "print one JSON object")
      .addHelpText("after", wrapHelp(help))
      .action((flags: Flags) => orExplain(() => detect(flags))),
  );
}

/** Tries each preset with each header prefix of the request. If none fits, it names the likely mistake. */
function detectSignature(request: SignedRequest, headerNames: readonly string[], secret: string): Detection {
  const prefixes = prefixesOf(headerNames);
  for (const signature of Object.keys(signaturePresets) as SignaturePreset[])
    for (const headerPrefix of prefixes)
      if (verifies(request, resolveScheme(signature, headerPrefix), secret))
        return { fits: true, signature, headerPrefix, advice: adviceFor(signature, headerPrefix) };
  return explain(request, headerNames, prefixes, secret);
}

function detect(flags: Flags): void {
  const headers = parseHeaders(readInput(flags.headers, "--headers").toString("utf8"));
  const body = readInput(flags.body, "--body");
  const request = { body, headers: (name: string) => headers.get(name) ?? [] };
  const detection = detectSignature(request, [...headers.keys()], readSecret(flags));
  process.stdout.write(flags.json === true ? `${JSON.stringify(detection)}\n` : `${tell(detection)}\n`);
  if (!detection.fits) process.exitCode = 1;
}

function tell(detection: Detection): string {
  if (!detection.fits) return `No scheme fits (${detection.cause}).\n${detection.advice}`;
  return `The signature holds: ${detection.signature}.\n${detection.advice}`;
}

function adviceFor(signature: SignaturePreset, headerPrefix: string): string {
  const options = [
    signature === "default" ? "" : `signature: "${signature}"`,
    signature === "default" && headerPrefix !== defaultHeaderPrefix ? `headerPrefix: "${headerPrefix}"` : "",
  ].filter((option) => option !== "");
  if (options.length === 0) return "The default settings of createMirror fit.";
  return `Set in createMirror: webhook: { ${options.join(", ")} }.`;
}

/** The default prefix, and any other before a header that ends in -signature. */
function prefixesOf(headerNames: readonly string[]): string[] {
  const seen = headerNames
    .filter((name) => /^[a-z0-9-]+-signature$/.test(name))
    .map((name) => name.slice(0, -9));
  return [
    ...new Set([defaultHeaderPrefix, ...seen.filter((name) => name !== defaultHeaderPrefix.toLowerCase())]),
  ];
}

function verifies(request: SignedRequest, scheme: ResolvedScheme, secret: string): boolean {
  try {
    return createVerifier({ scheme }).verify(request, prepareSecrets(secret, scheme), Date.now()).ok;
  } catch {
    // This scheme can't use the secret: it is no base64, for example.
    return false;
  }
}

function explain(
  request: SignedRequest,
  headerNames: readonly string[],
  prefixes: readonly string[],
  secret: string,
): Detection {
  if (!headerNames.some((name) => /signature|hmac/.test(name)))
    return {
      fits: false,
      cause: "no-signature-header",
      advice: `None of the headers is a signature (${headerNames.join(", ") || "there are none"}): the request is not the service's, or a proxy removed the signature.`,
    };
  const diagnoses = prefixes.map((prefix): Diagnosis => {
    const scheme = resolveScheme("default", prefix);
    return diagnoseMismatch(request, prepareSecrets(secret, scheme), { scheme });
  });
  const found = diagnoses.find(({ cause }) => cause !== "unexplained") ?? diagnoses[0];
  return { fits: false, cause: found?.cause ?? "unexplained", advice: found?.explanation ?? "" };
}

function parseHeaders(text: string): Map<string, string[]> {
  const pairs = text.trimStart().startsWith("{") ? jsonPairs(text) : linePairs(text);
  if (pairs.length === 0)
    throw new Misuse(
      '--headers: the file has no headers. Expected are lines of "Name: value", or a JSON object.',
    );
  const named = groupBy(pairs, ([name]) => name.toLowerCase());
  return new Map([...named].map(([name, lines]) => [name, lines.map(([, value]) => value)]));
}

function jsonPairs(text: string): [string, string][] {
  return Object.entries(parseObject(text)).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
  );
}

/** The error of `JSON.parse` is not shown: it quotes the text, which may hold a secret. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Misuse(
      "--headers: the file starts like a JSON object, but it is not one: check its quotes, commas and end.",
    );
  }
}

/** Reads lines as curl prints them, with or without `<` and `>`. */
function linePairs(text: string): [string, string][] {
  return text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, name, value] = /^[<>]?\s*([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
}

function readSecret({ secretFile, secretsFile }: Flags): string {
  const secret =
    secretFile === undefined
      ? loadSecrets(["ESCROW_WEBHOOK_SECRET"], secretsFile).ESCROW_WEBHOOK_SECRET
      : readInput(secretFile, "--secret-file").toString("utf8");
  if (secret !== undefined && secret.trim() !== "") return secret;
  throw new Misuse("no secret: set ESCROW_WEBHOOK_SECRET, or pass --secret-file (- for standard input).");
}
