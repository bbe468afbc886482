/** What a log is read from: a database, an address or a folder. */
export interface LogSource {
  /** Returns the first `width` hashes of a tile as one string of bytes; null if it is missing or cut. */
  tile(level: number, index: number, width: number): Promise<Uint8Array | null>;
  /** Returns the first `width` entries of a bundle; null if it is missing, cut or malformed. */
  entries(index: number, width: number): Promise<readonly Uint8Array[] | null>;
}
