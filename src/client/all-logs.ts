import type { WebhookLogEntry, WebhookLogPage } from "./answer/webhook.ts";
import { checkInput } from "./input/check.ts";
import { allLogsSchema, pageSizeMax } from "./input/webhook-input.ts";
import type { AllLogsInput, LogsInput } from "./input/webhook-input.ts";

/** Entries that were given lately: new ones push them on to the next page. */
const rememberedMax = 50 * pageSizeMax;

/** Walks the pages until one is empty, brings nothing new, or is the last by the log's own count. */
export async function* allLogs(
  input: AllLogsInput,
  readPage: (input: LogsInput) => Promise<WebhookLogPage>,
): AsyncGenerator<WebhookLogEntry, undefined> {
  const { pageSize = pageSizeMax } = checkInput("webhooks.allLogs", allLogsSchema, input);
  const given = new Set<string>();
  for (let page = 1; ; page++) {
    const read = await readPage({ page, pageSize });
    const fresh = read.logs.filter(({ id }) => !given.has(id));
    for (const entry of fresh) {
      remember(given, entry.id);
      yield entry;
    }
    if (fresh.length === 0 || isLast(read, page)) return undefined;
  }
}

function remember(given: Set<string>, id: string): void {
  given.add(id);
  const [oldest] = given;
  if (given.size > rememberedMax && oldest !== undefined) given.delete(oldest);
}

/** The service may give smaller pages than it was asked for, and says so. */
function isLast({ totalCount, pageSize }: WebhookLogPage, page: number): boolean {
  return Number(totalCount ?? Number.NaN) <= page * Number(pageSize ?? Number.NaN);
}
