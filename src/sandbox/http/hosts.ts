import { isIP } from "node:net";

import type { Refusal } from "../wire/refusal.ts";
import type { Settings } from "../world/settings.ts";

/** Where the server listens: an IP address, and the real port. */
export interface Address {
  host: string;
  port: number;
}

const headerForm = /^(\[[\da-f:.]+\]|[\w.-]+?)\.?(:\d{1,5})?$/i;

/** The host's name, without port, brackets and closing dot. */
function nameOf(header: string): string | undefined {
  return headerForm.exec(header)?.[1]?.toLowerCase().replaceAll(/[[\]]/g, "");
}

/**
 * Whether the sandbox answers under this `Host`. A web site can point a name of its own at this machine (DNS rebinding);
 * its page would then count as the sandbox's own. A program may leave the header out, a browser can't.
 */
export function isAllowedHost(settings: Settings, header: string | undefined): boolean {
  if (header === undefined) return true;
  const name = nameOf(header);
  return name !== undefined && (isLoopback(name) || isConfigured(settings, name));
}

function isLoopback(name: string): boolean {
  return name === "::1" || /^(.+\.)?localhost$/.test(name) || /^127(\.\d{1,3}){3}$/.test(name);
}

function isConfigured({ host, baseUrl, allowedHosts }: Settings, name: string): boolean {
  const own = baseUrl === undefined ? [] : [nameOf(new URL(baseUrl).host)];
  if ([host, ...allowedHosts].some((allowed) => allowed.toLowerCase() === name) || own.includes(name))
    return true;
  // An address is no name that a web site could have pointed here.
  return ["0.0.0.0", "::"].includes(host) && isIP(name) > 0;
}

export function foreignHost(header: string): Refusal {
  const name = nameOf(header) ?? header.slice(0, 100);
  const detail = `The sandbox does not answer requests for the host ${name}. Otherwise a web site could use its own name to reach the sandbox. If the name is yours, allow it: --allow-host ${name}, or the option allowedHosts.`;
  return { status: 403, message: "ForeignHost", detail };
}

/** The start of links: the configured address, else that of the request, else the bound one. */
export function baseUrlOf({ baseUrl }: Settings, address: Address, header?: string): string {
  if (baseUrl !== undefined) return new URL(baseUrl).origin;
  return `http://${header ?? `${urlHost(address.host)}:${address.port}`}`;
}

function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
