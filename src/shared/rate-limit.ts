/** `true` at most once in `everyMs` of the time that it is told; a clock set back opens it again. */
export function createRateLimit({ everyMs }: { readonly everyMs: number }): (nowMs: number) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    if (nowMs >= lastMs && nowMs - lastMs < everyMs) return false;
    lastMs = nowMs;
    return true;
  };
}
