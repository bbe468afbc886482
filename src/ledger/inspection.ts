/** What an inspection of a database finds. */
import type { SchemaState } from './migrations.ts';

/** Something wrong with a database, and what an operator does about it. */
export interface DatabaseFault {
  /** True if servers cannot work, or can lose keys. */
  readonly isGrave: boolean;
  readonly problem: string;
  readonly remedy: string;
}

export interface Inspection {
  /** Product, version and state in one line. */
  readonly about: string;
  readonly faults: readonly DatabaseFault[];
  /** What could not be checked, in a sentence without its end. */
  readonly unchecked?: string | undefined;
  /** Null if it could not be read without a change. */
  readonly schema: SchemaState | null;
  /** The newest schema version that this program knows. */
  readonly program: number;
  /** The oldest schema version that this program can migrate. */
  readonly baseline: number;
}
