/** `true` at most once in `everyMs` of the time that it is told; a clock set back opens it again. */
export function createRateLimit({ everyMs }: { readonly everyMs: number }): (nowMs: number) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    if (nowMs >= lastMs && nowMs - lastMs < everyMs) return false;
    lastMs = nowMs;
    return true;
  };
}

/** The same for each of a closed list of keys by itself. */
export function createRateLimits(limit: { readonly everyMs: number }) {
  const limits = new Map<string, (nowMs: number) => boolean>();
  return (key: string, nowMs: number): boolean => {
    const mayPass = limits.get(key) ?? createRateLimit(limit);
    limits.set(key, mayPass);
    return mayPass(nowMs);
  };
}
