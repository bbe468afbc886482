/** What cannot be read gets no verdict. */

/**
 * A receipt, policy, key or opening that cannot be read: another encoding, another kind of file, a part that was cut. It is no
 * verdict: the receipt may be right. The message is one sentence or two.
 */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}
