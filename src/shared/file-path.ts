/** `scheme:` (a letter alone is a disk of Windows), `user:password@`, `Password=`. */
const address = /^\s*[a-z][a-z0-9+.-]+:|:\/\/|[^/\\:]:[^/\\:@]*@|(password|passwd|pwd)\s*=/i;

/**
 * Whether text that should be the path of a file is rather the address of a server: the file would be another, empty one,
 * and the password in its name would stand in messages and logs.
 */
export function looksLikeAddress(path: string): boolean {
  return address.test(path);
}

/** The message for it, without the text itself. */
export const filePathAdvice =
  'expected the path of a file, such as "escrow.db", and not an address of a database or a server. A file with a colon in its name can be given with its folder before it, as "./name"';
