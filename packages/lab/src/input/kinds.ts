/** The kinds of inputs. */
import type { Bytes } from './bytes.ts';

/** A `Blob` or `File` of a browser or of Node. */
export interface BlobSource {
  readonly size: number;
  readonly name?: string;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** A `ReadableStream` of bytes. */
export interface StreamSource {
  readonly locked?: boolean;
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Bytes | undefined }>;
    cancel(): Promise<void>;
  };
}

/** A `Readable` of Node, such as a file, a response or standard input, without an encoding. */
export interface NodeStream extends AsyncIterable<Bytes> {
  readonly destroyed?: boolean;
  readonly errored?: unknown;
  readonly readableEnded?: boolean;
  on(event: 'error', listen: (error: Error) => void): unknown;
  destroy(): unknown;
}

/** Bytes that are read on demand. */
export interface ByteSource {
  readonly name?: string;
  /** Undefined for streams. */
  readonly sizeBytes: number | undefined;
  /** Fills `into` from the front. Resolves with the number of bytes read, which is 0 only at the end. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

export type Source =
  | Bytes
  | BlobSource
  | StreamSource
  | NodeStream
  | AsyncIterable<Bytes>
  | ByteSource;
