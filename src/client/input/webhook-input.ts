import { z } from "zod";
import { strictFields } from "../any-case.ts";
import { httpUrl } from "./fields.ts";

/** Where the service sends webhooks. */
export interface WebhookInput {
  /** An absolute http or https URL. */
  readonly webhookUrl: string;
}

export const webhookSchema = strictFields({ webhookUrl: httpUrl });

/** Which page of the delivery log. */
export interface LogsInput {
  /** From 1. Default 1. */
  readonly page?: number | undefined;
  /** 1 to 100. Default 20. */
  readonly pageSize?: number | undefined;
}

/** §8. */
export const pageSizeMax = 100;

const pageSize = z.int().min(1).max(pageSizeMax).optional();

export const logsSchema = strictFields({ page: z.int().min(1).optional(), pageSize });

/** How many entries of the delivery log to read at once. */
export type AllLogsInput = Pick<LogsInput, "pageSize">;

export const allLogsSchema = strictFields({ pageSize });
