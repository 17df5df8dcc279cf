/**
 * The key of a body's content: the first minute written in the body, then the SHA-256 of its bytes.
 *
 * The minute is read from the bytes alone, so that equal bytes have equal keys, and keys are as unique as their digests.
 * It puts the keys of one time side by side in the index: a commit touches a few pages of it and not one for each delivery,
 * however many are stored.
 *
 * @param digest SHA-256 of the body, hex
 * @returns hex: twelve digits `YYYYMMDDhhmm`, zeros where no time stands near the beginning (a compressed body), then
 * the digest
 */
export function contentKeyOf(body: Uint8Array, digest: string): string {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, headBytesMax));
  const minute = firstMinute.exec(head.toString("latin1"));
  return (minute === null ? noMinute : minute.slice(1).join("")) + digest;
}

/** The SHA-256 in a content key. */
export function digestIn(contentKey: string): string {
  return contentKey.slice(noMinute.length);
}

/** The service writes `createdAt` before the data (§6.3). */
const headBytesMax = 512;
const firstMinute = /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/;
const noMinute = "000000000000";
