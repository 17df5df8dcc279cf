/** The file that says where the mirror and the service are, so that nobody types it at three in the morning. */
import { existsSync } from "node:fs";
import { z } from "zod";
import { parseConfiguration, strictOptions } from "../../shared/configuration.ts";
import { Misuse } from "./explain.ts";
import { readInput } from "./input.ts";

/** Found without being named, where the command is run. */
export const defaultConfig = "escrow-mirror.json";

const url = z.string().min(1);

/** No secret has a place in it: it may lie in a repository. */
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

/** @throws Misuse for a named file that is missing, and for one that can't be used */
export function loadConfig(path: string | undefined): Config {
  const file = path ?? (existsSync(defaultConfig) ? defaultConfig : undefined);
  if (file === undefined) return {};
  return parseConfiguration(file, schema, parseJson(readInput(file, "--config").toString("utf8"), file));
}

/** The message of JSON.parse quotes the file: only the place is taken from it. */
function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const [where = ""] = / \(line \d+ column \d+\)/.exec(String(cause)) ?? [];
    throw new Misuse(
      `${file} is no JSON${where}. It takes one object, such as {"store":"sqlite:escrow.db"}.`,
      {
        cause,
      },
    );
  }
}
