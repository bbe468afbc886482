/** The options of `phm generate`: which go together, and the request that they make. */
import { CommandError } from '#platform/commands';
import type { GenerateRequest } from '../../../sdk/src/index.ts';
import { parseDeliveryId } from '../../keys/terms.ts';
import type { ConnectionFlags } from './connection.ts';
import type { KeyFormat } from './key-formats.ts';
import type { Labels } from './labels.ts';

export const INCLUDES = ['hash_proof', 'nist_report', 'receipt'];

export interface GenerateFlags extends ConnectionFlags {
  readonly level: GenerateRequest['security_level'];
  readonly validate?: boolean;
  readonly source?: GenerateRequest['entropy_source'];
  readonly modulation: GenerateRequest['modulation_type'];
  readonly include?: readonly string[];
  readonly format: KeyFormat;
  /** True if the command line names the format. */
  readonly isFormatGiven: boolean;
  readonly envName?: string;
  readonly label?: Labels;
  /** In milliseconds. */
  readonly expiresIn?: number;
  /** In milliseconds since the epoch; with `expiresIn` the time that it leads to. */
  readonly expiresAt?: number;
  readonly sealTo?: readonly string[];
  readonly recipient?: readonly string[];
  /** An ID, or true for a new one. */
  readonly deliver?: string | true;
  /** In milliseconds. */
  readonly deliverFor?: number;
  readonly deliverContext?: string;
  readonly output?: string;
  readonly count?: number;
  readonly outputDir?: string;
  readonly force?: boolean;
  readonly receipt?: string;
  readonly json?: boolean;
}

function isSealed({ sealTo, recipient }: GenerateFlags): boolean {
  return sealTo !== undefined || recipient !== undefined;
}

/** Throws `CommandError` for options that exclude or need each other. */
export function assertConsistent(flags: GenerateFlags): void {
  const problem =
    (isSealed(flags) ? sealingProblem(flags) : null) ??
    deliveryProblem(flags) ??
    contentProblem(flags) ??
    placeProblem(flags);
  if (problem !== null) throw new CommandError(problem, 2);
}

function sealingProblem(flags: GenerateFlags): string | null {
  const { isFormatGiven, envName, include } = flags;
  if (isFormatGiven || envName !== undefined) {
    const name = isFormatGiven ? '--format' : '--env-name';
    return `${name} is for a key in plaintext: a sealed key is written as the JSON answer of the service. phm open has ${name}`;
  }
  if (include?.includes('hash_proof')) {
    return '--include hash_proof does not go with a sealed key, because the proof is inside it';
  }
  return null;
}

function deliveryProblem(flags: GenerateFlags): string | null {
  const { deliver, deliverFor, deliverContext, recipient, sealTo, count } = flags;
  if (deliver === undefined) {
    if (deliverFor !== undefined) return '--deliver-for needs --deliver';
    return deliverContext === undefined ? null : '--deliver-context needs --deliver';
  }
  if (recipient === undefined || sealTo !== undefined) {
    return '--deliver needs --recipient, and not --seal-to: only registered recipients have a box';
  }
  if (count !== undefined) return '--deliver is for one key: leave --count out';
  if (deliver !== true && parseDeliveryId(deliver) === undefined) {
    return '--deliver needs a UUID in lower case, or nothing for a new one';
  }
  return null;
}

function contentProblem(flags: GenerateFlags): string | null {
  const { format, envName, json, include, validate } = flags;
  if (envName !== undefined && (format !== 'env' || json)) return '--env-name needs --format env';
  if (include && !json && !isSealed(flags)) {
    return '--include needs --json, because it adds a field to the answer; nist_report also needs --validate';
  }
  if (include?.includes('nist_report') && !validate) {
    return '--include nist_report needs --validate, because no test runs without it';
  }
  return null;
}

function placeProblem(flags: GenerateFlags): string | null {
  const { count, outputDir } = flags;
  if (count !== undefined && outputDir === undefined) {
    return '--count needs --output-dir, because each key gets a file';
  }
  return outputDir === undefined ? fileProblem(flags) : directoryProblem(flags);
}

function directoryProblem(flags: GenerateFlags): string | null {
  const { count, output, outputDir, force, receipt } = flags;
  if (count === undefined) return '--output-dir needs --count, the number of keys';
  if (outputDir === '-' || outputDir === '') return '--output-dir needs the name of a directory';
  if (output !== undefined) return '--output is for one key: leave it out with --output-dir';
  if (force) return '--force does not go with --output-dir, which replaces no file';
  if (receipt === undefined) return null;
  const instead = isSealed(flags) ? '--include receipt' : '--json --include receipt';
  return `--receipt is for one key: ${instead} puts each receipt into the file of its key`;
}

function fileProblem(flags: GenerateFlags): string | null {
  const { format, output, force, json, receipt } = flags;
  if (force && output === undefined && receipt === undefined) {
    return '--force needs --output or --receipt';
  }
  if (receipt === '-' || receipt === '') return '--receipt needs the name of a file';
  if (receipt !== undefined && receipt === output) {
    return '--receipt and --output name the same file: name two';
  }
  if (output === '-' || output === '') {
    return '--output needs the name of a file; leave the option out for standard output';
  }
  if (format === 'raw' && output === undefined && !json && process.stdout.isTTY) {
    return '--format raw cannot be written to a terminal: use --output or a pipe';
  }
  return null;
}

/** Returns the fields of the request. `added` names further fields of the answer. */
export function toRequest(
  flags: GenerateFlags,
  added: readonly ('nist_report' | 'receipt')[] = [],
): GenerateRequest {
  const { level, validate, source, modulation, label, expiresAt } = flags;
  // Commander has checked the names.
  const given = (flags.include ?? []) as NonNullable<GenerateRequest['include']>;
  const include = [...new Set([...given, ...added])];
  return {
    security_level: level,
    ...(validate && { enable_nist_validation: true }),
    ...(source && { entropy_source: source }),
    ...(modulation && { modulation_type: modulation }),
    ...(label && { labels: label }),
    ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
    ...(include.length > 0 && { include }),
  };
}
