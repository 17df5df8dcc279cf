import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { ok } from "../../shared/result.ts";
import { refuse, refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import type { Json } from "../wire/json.ts";
import type { State } from "../world/state.ts";
import type { World } from "../world/world.ts";

/** `POST /connect/token`, form-encoded client credentials (supplement). The answer has no envelope: OAuth's own shape. */
export function issueToken(world: World, form: URLSearchParams): Granted<Json> {
  const missing = ["grant_type", "client_id", "client_secret"].filter((name) => !form.get(name)?.trim());
  if (missing.length > 0) {
    return refuseFields(
      ...missing.map((field) => ({
        field,
        message: `${field} is required, form-encoded in the request body.`,
      })),
    );
  }
  if (form.get("grant_type") !== "client_credentials") {
    return refuseFields({ field: "grant_type", message: "grant_type must be client_credentials." });
  }
  const clientId = form.get("client_id") ?? "";
  if (!isSecretOf(world, clientId, form.get("client_secret") ?? "")) {
    return refuse(401, "InvalidClient", "The client_id or the client_secret is wrong.");
  }
  const { tokenExpiresIn, tokenUnit } = world.settings;
  const lifetimeMs = tokenExpiresIn * (tokenUnit === "minutes" ? 60_000 : 1_000);
  return ok({
    access_token: writeToken(world, clientId, world.clock.now() + lifetimeMs),
    token_type: "Bearer",
    expires_in: tokenExpiresIn,
  });
}

function isSecretOf(world: World, clientId: string, secret: string): boolean {
  const own = clientId === world.settings.clientId ? world.state.identity.clientSecret : undefined;
  const known = own ?? world.settings.clients.find((client) => client.clientId === clientId)?.clientSecret;
  return known !== undefined && isSame(known, secret);
}

/** A token says itself whose it is and until when; only the sandbox can write one. It outlives a restart on a file. */
function writeToken(world: World, clientId: string, expiresAtMs: number): string {
  const { tokenGeneration } = world.state.counters;
  const claims = Buffer.from(`${tokenGeneration}:${expiresAtMs}:${clientId}`).toString("base64url");
  return `${claims}.${mac(world, claims)}`;
}

/** The client that the `Authorization` header names; a 401 otherwise (§5). */
export function authenticate(world: World, authorization: string | undefined): Granted<string> {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) {
    return refuse(401, "Unauthorized", "The header Authorization: Bearer <ACCESS_TOKEN> is missing.");
  }
  const claims = readClaims(world, token);
  if (claims === undefined) return refuse(401, "Unauthorized", "The access token is not one of ours.");
  if (claims.generation !== world.state.counters.tokenGeneration) {
    return refuse(401, "Unauthorized", "The access token was revoked.");
  }
  if (claims.expiresAtMs > world.clock.now()) return ok(claims.clientId);
  return refuse(401, "Unauthorized", "The access token has expired.");
}

interface Claims {
  generation: number;
  expiresAtMs: number;
  clientId: string;
}

/** Tokens whose seal was found right: a client sends the same one thousands of times. */
const knownTokensMax = 1_000;
const knownTokens = new WeakMap<State, Map<string, Claims>>();

function readClaims(world: World, token: string): Claims | undefined {
  const known = knownTokens.get(world.state) ?? new Map<string, Claims>();
  const before = known.get(token);
  if (before !== undefined) return before;
  const [text = "", seal = ""] = token.split(".");
  if (!isSame(mac(world, text), seal)) return undefined;
  const [generation, expiresAtMs, ...rest] = Buffer.from(text, "base64url").toString().split(":");
  const claims = {
    generation: Number(generation),
    expiresAtMs: Number(expiresAtMs),
    clientId: rest.join(":"),
  };
  if (known.size >= knownTokensMax) known.clear();
  knownTokens.set(world.state, known.set(token, claims));
  return claims;
}

/** Every token issued so far stops working. */
export function revokeTokens(world: World): void {
  world.state.count("tokenGeneration");
}

function mac(world: World, claims: string): string {
  return createHmac("sha256", world.state.identity.tokenKey).update(claims).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
