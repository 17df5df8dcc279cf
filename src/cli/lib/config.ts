/** Reads the file that says where the mirror and the service are, so that nobody has to type it. */
import { existsSync } from "node:fs";
import { z } from "zod";
import { parseConfiguration, strictOptions } from "../../shared/configuration.ts";
import { Misuse } from "./explain.ts";
import { readInput } from "./input.ts";

/** The file that is read when `--config` names none. It is looked for in the current folder. */
export const defaultConfig = "escrow-mirror.json";

const url = z.string().min(1);

/** It has no field for a secret, because the file may be in a repository. */
const schema = strictOptions({
  store: z.string().min(1).optional(),
  schema: z.string().optional(),
  prefix: z.string().optional(),
  client: strictOptions({
    baseUrl: url.optional(),
    authUrl: url.optional(),
    clientId: z.string().min(1).optional(),
    scope: z.string().optional(),
    expiresInUnit: z.enum(["seconds", "minutes"]).optional(),
  }).optional(),
});

/** The settings of a config file. */
export type Config = z.output<typeof schema>;

/** @throws Misuse if the named file is missing, or if the file can't be used */
export function loadConfig(path: string | undefined): Config {
  const file = path ?? (existsSync(defaultConfig) ? defaultConfig : undefined);
  if (file === undefined) return {};
  return parseConfiguration(file, schema, parseJson(readInput(file, "--config").toString("utf8"), file));
}

/** The error of `JSON.parse` quotes the file, which may hold a password: only the place is used. */
function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const [where = ""] = / \(line \d+ column \d+\)/.exec(String(cause)) ?? [];
    throw new Misuse(
      `${file} is not JSON${where}. It takes one object, such as {"store":"sqlite:escrow.db"}.`,
      {
        cause,
      },
    );
  }
}
