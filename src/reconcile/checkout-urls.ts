/**
 * Payment pages of the newest contracts. Their URL holds a token that is valid for ten minutes. It stays in this process's
 * memory: it is never stored and never logged.
 */
import { EscrowMirrorError } from "../shared/errors.ts";
import type { MirroredContract } from "../queries/shapes.ts";
import type { Clock } from "../shared/clock.ts";
import type { MirrorClient } from "./mirror-client.ts";

/** Options of `mirror.contracts.checkoutUrl()`. */
export interface CheckoutOptions {
  /** The buyer's phone number, with its country code. Default: the number in an API answer. */
  readonly buyerPhoneNumber?: string | undefined;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckoutUrls {
  remember(contractId: string, url: string): void;
  /** The page that works now; a new one where the last is too old. */
  get(contractId: string, options: CheckoutOptions): Promise<string>;
}

export interface CheckoutParts {
  readonly client: MirrorClient;
  readonly clock: Clock;
  readonly load: (contractId: string) => Promise<MirroredContract | undefined>;
  readonly refresh: (contractId: string, signal: AbortSignal | undefined) => Promise<MirroredContract>;
}

/** A minute less than the token lives: the buyer must still have some of it. */
const usableMs = 9 * 60_000;
const urlsMax = 1000;

export function createCheckoutUrls({ client, clock, load, refresh }: CheckoutParts): CheckoutUrls {
  const urls = new Map<string, { readonly url: string; readonly atMs: number }>();

  function remember(contractId: string, url: string): void {
    urls.delete(contractId);
    urls.set(contractId, { url, atMs: clock.now() });
    const [oldest] = urls.keys();
    if (urls.size > urlsMax && oldest !== undefined) urls.delete(oldest);
  }

  async function phoneOf(contractId: string, signal: AbortSignal | undefined): Promise<string> {
    const known = (await load(contractId))?.buyer?.phoneNumber;
    const phone = known ?? (await refresh(contractId, signal)).buyer?.phoneNumber;
    if (phone) return phone;
    throw new EscrowMirrorError(
      "invalid-argument",
      `the service shows no phone number of the buyer of ${contractId}: pass buyerPhoneNumber to mirror.contracts.checkoutUrl()`,
    );
  }

  return {
    remember,
    get: async (contractId, { buyerPhoneNumber, signal }) => {
      const known = urls.get(contractId);
      if (known !== undefined && clock.now() - known.atMs < usableMs) return known.url;
      const phone = buyerPhoneNumber ?? (await phoneOf(contractId, signal));
      const input = { buyerPhoneNumber: phone };
      const { checkoutUrl } = await client.contracts.renewCheckout(contractId, input, { signal });
      remember(contractId, checkoutUrl);
      return checkoutUrl;
    },
  };
}
