/** The published vectors of test/vectors/tlog. */
import { readFileSync } from 'node:fs';

function read<T>(name: string): T {
  const url = new URL(`../vectors/tlog/${name}`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as T;
}

interface MerkleVectors {
  readonly entries: readonly string[];
  readonly empty_root: string;
  /** Roots of the trees of 1 to 8 entries. */
  readonly roots: readonly string[];
  readonly inclusion: readonly { index: number; size: number; proof: readonly string[] }[];
  readonly consistency: readonly { from: number; to: number; proof: readonly string[] }[];
}

interface C2spVectors {
  readonly signed_note: { readonly note: string };
  readonly verified_note: { readonly vkey: string; readonly note: string };
  readonly sumdb_note: { readonly vkey: string; readonly note: string };
  readonly checkpoint: { readonly note: string };
  readonly cosigned_checkpoint: {
    readonly note: string;
    readonly witness: string;
    readonly timestamp: number;
    readonly message: string;
  };
  readonly proof: { readonly proof: string };
  readonly policy: { readonly policy: string };
  readonly witness_request: { readonly checkpoint: string };
  readonly witness_response: { readonly lines: string };
  readonly tile_paths: { readonly paths: readonly { index: number; path: string }[] };
  readonly tile_widths: {
    readonly trees: readonly {
      size: number;
      levels: readonly { full: number; partial: number }[];
    }[];
  };
}

interface Rfc8785Vectors {
  readonly numbers: { readonly samples: readonly { ieee754: string; json: string | null }[] };
  readonly object: { readonly json: string; readonly canonical_utf8: string };
  readonly sorting: { readonly json: string; readonly values: readonly string[] };
}

export const C2SP = read<C2spVectors>('c2sp.json');
export const MERKLE = read<MerkleVectors>('merkle-tree.json');
export const RFC_8785 = read<Rfc8785Vectors>('rfc8785.json');
