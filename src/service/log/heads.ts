/** Heads of the log: the size and root of a tree, and the signed note about them. */

export interface Head {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** A head with its signed checkpoint. */
export interface SignedHead extends Head {
  readonly note: string;
}

export function isSameHead(one: Head, other: Head): boolean {
  return one.size === other.size && Buffer.compare(one.root, other.root) === 0;
}
