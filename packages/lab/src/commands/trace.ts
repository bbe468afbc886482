/** The facts by which a report of `assess` can be traced to its input, options and program. */
import { CommandError } from '../../../platform/src/commands/index.ts';
import { KERNELS_SHA256, TEST_NAMES } from '../../../sp800-22/src/index.ts';
import { createdText, type RunTrace, type Software } from '../report/trace.ts';
import type { LabContext } from './context.ts';
import type { AssessOptions, InputRead } from './file-run.ts';
import { itemName } from './input-name.ts';

const NOTHING_READ: InputRead = { bytes: 0, sha256: '', sizeBytes: undefined, format: 'binary' };

/** Returns the trace of a run that has read `read`. `sequences` is as the command line has it. */
export function toTrace(
  {
    file,
    offsetBits = 0,
    bits,
    tests = TEST_NAMES,
    supplements = [],
    thorough = false,
  }: AssessOptions,
  sequences: number | 'all' | undefined,
  { sizeBytes, bytes, sha256, format, hints = [] }: InputRead = NOTHING_READ,
  created: string,
  { program, build }: Software,
): RunTrace {
  return {
    input: {
      name: itemName(file),
      size: sizeBytes ?? null,
      bytes,
      sha256,
      format,
      offset_bits: offsetBits,
      program,
      ...(hints.length > 0 && { hints }),
    },
    options: {
      bits: bits ?? null,
      sequences: sequences === 'all' ? null : (sequences ?? 1),
      tests,
      supplements,
      ...(thorough && { thorough }),
    },
    software: {
      build,
      kernels_sha256: KERNELS_SHA256,
    },
    created,
  };
}

/** Returns the time to the second, in UTC. `SOURCE_DATE_EPOCH` replaces the clock for reproducible reports. */
export function creationTime({ env }: Pick<LabContext, 'env'>): string {
  const epoch = env.SOURCE_DATE_EPOCH;
  const ms = epoch === undefined ? Date.now() : Number(epoch) * 1000;
  if (epoch !== undefined && !/^\d{1,11}$/.test(epoch)) {
    throw new CommandError(`SOURCE_DATE_EPOCH expected seconds since 1970, got "${epoch}"`, 2);
  }
  return createdText(ms);
}
