/** `phm sources test`: runs health tests and estimators on new samples. */

import { estimatorText, nonIidReport, textOf } from '#lab';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import { grouped } from '#sp800-22';
import {
  ASSESSMENT_SAMPLES,
  assessNonIid,
  MAX_ASSESSED_BITS,
  NoiseTests,
  type NoiseVerdict,
  START_UP_SAMPLES,
} from '#sp800-90b';
import { wipe } from '../../bytes.ts';
import { collectSamples, isRemote, type NoiseReader } from '../../entropy/index.ts';
import type { CliContext } from '../context.ts';
import type { OpenedSource } from './open.ts';

/** One job of 4,096 shots of eight qubits: samples of a remote source may cost money. */
const REMOTE_SAMPLES = 32_768;

interface HealthResult {
  readonly startUp: NoiseVerdict;
  /** Verdict on all samples, including those of the startup test. */
  readonly all: NoiseVerdict;
}

/**
 * Draws samples and writes the results of the tests. Throws `CommandError` (exit code 1) if a health test
 * fails or the estimate is below the claim of the source. Ctrl-C ends the process during estimation, which
 * never yields to a handler.
 */
export async function testSource(
  context: CliContext,
  { name, reader }: OpenedSource,
  { samples: wanted, json }: { samples?: number; json?: boolean },
): Promise<void> {
  const byDefault = isRemote(name) ? REMOTE_SAMPLES : ASSESSMENT_SAMPLES;
  const count = Math.max(wanted ?? byDefault, START_UP_SAMPLES);
  requireAssessable(reader, count);
  const samples = await untilInterrupted((signal) => collect(context, reader, count, signal));
  const progress = context.status;
  try {
    const health = testHealth(reader, samples);
    const { bitsPerSample: bitsPerSymbol, minEntropyPerSample: claim } = reader;
    const assessment = assessNonIid(samples, {
      bitsPerSymbol,
      onProgress: (state) => progress.show(estimatorText(state)),
    });
    progress.clear();
    const meetsClaim = assessment.minEntropyPerSymbol >= claim;
    const report = nonIidReport(assessment);
    if (json) {
      writeJson(context, {
        source: name,
        claimed_min_entropy_per_symbol: claim,
        meets_claim: meetsClaim,
        health: { start_up: health.startUp, all: health.all },
        ...report.json,
      });
    } else {
      context.outText(`${healthText(health, count)}${textOf(report.text)}`);
      context.out(`Claimed for the health tests: ${claim} bits per symbol.\n`);
    }
    if (health.all.level !== 'passed') throw new CommandError('a health test failed', 1);
    if (!meetsClaim) throw new CommandError('the estimate is below the claim of the source', 1);
  } finally {
    progress.clear();
    wipe(samples);
  }
}

function requireAssessable({ bitsPerSample }: NoiseReader, count: number): void {
  const most = Math.floor(MAX_ASSESSED_BITS / bitsPerSample);
  if (count <= most) return;
  throw new CommandError(
    `--samples is ${grouped(count)}: use at most ${grouped(most)} samples of ${bitsPerSample} bits`,
    2,
  );
}

async function collect(
  { status }: CliContext,
  reader: NoiseReader,
  count: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const progress = status;
  try {
    return await collectSamples(reader, count, signal, (collected) => {
      progress.show(`${grouped(collected)} of ${grouped(count)} samples`);
    });
  } finally {
    progress.clear();
    await reader.close();
  }
}

function testHealth(reader: NoiseReader, samples: Uint8Array): HealthResult {
  const startUp = new NoiseTests(reader).check(samples.subarray(0, START_UP_SAMPLES));
  return { startUp, all: new NoiseTests(reader).check(samples) };
}

function healthText({ startUp, all }: HealthResult, count: number): string {
  return (
    `Startup tests, ${grouped(START_UP_SAMPLES)} samples: ${verdictText(startUp)}\n` +
    `Health tests, ${grouped(count)} samples: ${verdictText(all)}\n\n`
  );
}

function verdictText(verdict: NoiseVerdict): string {
  return verdict.level === 'passed'
    ? 'passed'
    : `FAILED (${verdict.level}): ${verdict.test} at sample ${verdict.sample}`;
}
