/** Reads the variables of the transparency log. */
import { resolve, sep } from 'node:path';
import type { Reader } from './reader.ts';

/** Origin of the log's signing keys; `managed` is the file in the data directory. */
export type LogKeyOrigin =
  | { readonly kind: 'environment'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'managed'; readonly path: string };

export interface LogConfig {
  /** `auto`: SQLite creates the log at the first start, PostgreSQL uses it if there are keys. */
  readonly mode: 'auto' | 'off';
  readonly keys: LogKeyOrigin;
  /** Path of the last published checkpoint, outside the data directory. */
  readonly stateFile: string;
  /** Path of the policy that names the witnesses; null without. */
  readonly witnessesFile: string | null;
  /** Milliseconds between two turns. */
  readonly intervalMs: number;
}

export function readLogConfig(reader: Reader, dataDir: string): LogConfig {
  const witnesses = reader.text('PHM_LOG_WITNESSES');
  return {
    mode: reader.choice('PHM_TRANSPARENCY_LOG'),
    keys: readLogKeyOrigin(reader, dataDir),
    stateFile: readStateFile(reader, dataDir),
    witnessesFile: witnesses ? resolve(witnesses) : null,
    intervalMs: reader.integer('PHM_LOG_INTERVAL_MS'),
  };
}

function readLogKeyOrigin(reader: Reader, dataDir: string): LogKeyOrigin {
  const text = reader.text('PHM_LOG_KEY');
  const path = reader.text('PHM_LOG_KEY_FILE');
  if (text && path) {
    reader.problems.push('PHM_LOG_KEY and PHM_LOG_KEY_FILE are both set: keep one of them');
  }
  if (text) return { kind: 'environment', text };
  if (path) return { kind: 'file', path: resolve(path) };
  return { kind: 'managed', path: resolve(dataDir, 'log.key') };
}

/** A copy of the data directory must not hold the file, because restoring both together would hide a fork. */
function readStateFile(reader: Reader, dataDir: string): string {
  const stateFile = resolve(reader.text('PHM_LOG_STATE_FILE') || `${dataDir}.log-state`);
  if (stateFile.startsWith(dataDir.endsWith(sep) ? dataDir : dataDir + sep)) {
    reader.problems.push(
      'PHM_LOG_STATE_FILE is in the data directory, so a restored backup would restore it too: name a file elsewhere',
    );
  }
  return stateFile;
}
