import { signaturePresets, type ResolvedScheme } from "../../signature/scheme.ts";

/** Headers that say how to read a body, and who sent it when. */
const ofEveryRequest = ["content-type", "content-encoding", "content-length", "date", "user-agent"];

/** The service's own headers, without their prefix (§6.2). */
const ofTheService = ["event", "webhook-id", "timestamp"];

/**
 * The headers that are stored with a delivery, by lower-case name. A list of those kept, not of those dropped: proxies and
 * gateways add what identifies people and what grants access (tokens, cookies, keys, addresses), under names without end.
 * No scheme's signature is among them: with its body it could be replayed.
 */
export function keptHeaders(scheme: ResolvedScheme, headerPrefix: string): ReadonlySet<string> {
  const prefix = headerPrefix.toLowerCase();
  const kept = new Set([
    ...ofEveryRequest,
    ...ofTheService.map((name) => prefix + name),
    scheme.idHeader.toLowerCase(),
    scheme.timestampHeader.toLowerCase(),
  ]);
  for (const name of signatureHeaders(scheme, prefix)) kept.delete(name);
  return kept;
}

/** A scheme may name any header as its id or its time: another scheme's signature too. */
function signatureHeaders(scheme: ResolvedScheme, prefix: string): string[] {
  const ofPresets = Object.values(signaturePresets).map(({ signatureHeader = "" }) => signatureHeader);
  return [...ofPresets, scheme.signatureHeader, `${prefix}signature`].map((name) => name.toLowerCase());
}
