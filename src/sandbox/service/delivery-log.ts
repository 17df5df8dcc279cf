import { ok } from "../../shared/result.ts";
import { refuseFields } from "../wire/refusal.ts";
import type { Granted } from "../wire/refusal.ts";
import type { LogRecord } from "../world/records.ts";
import type { World } from "../world/world.ts";

/** §8. */
const pageSizeDefault = 20;
const pageSizeMax = 100;

export interface LogPage {
  logs: LogRecord[];
  totalCount: number;
  page: number;
  pageSize: number;
}

/** §4.6: newest first. */
export function readLogs(world: World, business: string, query: URLSearchParams): Granted<LogPage> {
  const page = readCount(query, "page", 1);
  const asked = readCount(query, "pageSize", pageSizeDefault);
  const pageSize = world.settings.pageSizeAboveMax === "clamp" ? Math.min(asked, pageSizeMax) : asked;
  const errors = [];
  if (!(page >= 1)) errors.push({ field: "page", message: "page must be an integer from 1." });
  if (!(pageSize >= 1 && pageSize <= pageSizeMax)) {
    errors.push({ field: "pageSize", message: `pageSize must be an integer from 1 to ${pageSizeMax}.` });
  }
  if (errors.length > 0) return refuseFields(...errors);
  const all = logOf(world, business);
  const end = Math.max(0, all.length - (page - 1) * pageSize);
  const logs = all.slice(Math.max(0, end - pageSize), end).reverse();
  return ok({ logs, totalCount: all.length, page, pageSize });
}

function logOf(world: World, business: string): LogRecord[] {
  if (world.settings.clients.length === 0) return world.state.log;
  return world.state.log.filter((entry) => entry.business === business);
}

function readCount(query: URLSearchParams, name: string, byDefault: number): number {
  const text = query.get(name);
  if (text === null) return byDefault;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
