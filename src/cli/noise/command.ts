/** `phm sources`: lists and tests entropy sources, and writes their raw noise. */

import { type Command, Option } from 'commander';
import { parseCount, untilInterrupted, writeJson, writeTable } from '#platform/commands';
import type { Config } from '../../config/index.ts';
import {
  SOURCE_NAMES,
  type SourceName,
  sourceAssessment,
  sourceCreditBits,
  sourceKind,
} from '../../entropy/index.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { openByName } from './open.ts';
import { probeSource } from './probe.ts';
import { writeRaw, writeRestarts } from './raw.ts';
import { testSource } from './test.ts';

export function addSourcesCommands(program: Command, context: CliContext): void {
  const sources = program
    .command('sources')
    .description(
      'list the entropy sources with use, credit and health; remote ones are not contacted',
    )
    .option('--json', 'write the list as JSON')
    .action((options: { json?: boolean }) =>
      untilInterrupted((signal) => list(context, options, signal)),
    );
  sources
    .command('test <name>')
    .description('run the health tests and the SP 800-90B estimators on new raw samples')
    .addOption(
      new Option(
        '--samples <n>',
        'samples to draw, at least 1,024 (default: 1,000,000, or 32,768 from a remote source)',
      ).argParser(parseCount),
    )
    .option('--json', 'write the result as JSON')
    .action(async (name: string, options: { samples?: number; json?: boolean }) =>
      testSource(context, await openByName(context, name), options),
    );
  sources
    .command('raw <name>')
    .description('write raw samples, one symbol per byte, for assessment with other tools')
    .addOption(
      new Option('--bytes <n>', 'number of samples to write')
        .argParser(parseCount)
        .makeOptionMandatory(),
    )
    .action((name: string, { bytes }: { bytes: number }) =>
      untilInterrupted(async (signal) =>
        writeRaw(context, await openByName(context, name), bytes, signal),
      ),
    );
  sources
    .command('restarts <name>')
    .description(
      'write the matrix of the restart tests: 1,000 samples after each of 1,000 restarts',
    )
    .action((name: string) =>
      untilInterrupted(async (signal) =>
        writeRestarts(context, await openByName(context, name), signal),
      ),
    );
}

interface ListedSource {
  readonly name: SourceName;
  readonly kind: string;
  readonly use: string;
  readonly credit_bits_per_draw: number;
  readonly status: string;
  readonly assessment: string;
}

async function list(
  context: CliContext,
  { json }: { json?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const config = requireConfig(context);
  const rows: ListedSource[] = [];
  for (const name of SOURCE_NAMES) {
    rows.push({
      name,
      kind: sourceKind(name),
      use: useOf(name, config),
      credit_bits_per_draw: sourceCreditBits(name, config.sourceSettings),
      status: await probeSource(name, config, signal),
      assessment: sourceAssessment(name, config.sourceSettings),
    });
  }
  if (json) return writeJson(context, rows);
  writeTable(
    context,
    ['NAME', 'KIND', 'USE', 'CREDIT', 'STATUS', 'ASSESSMENT'],
    rows.map((row) => Object.values(row).map(String)),
  );
}

function useOf(name: SourceName, config: Config): string {
  const uses = [
    ...(name === 'os' ? ['always'] : []),
    ...(config.entropySource === name ? ['default'] : []),
    ...(config.entropyMix.includes(name) ? ['mixed in'] : []),
    ...(config.entropySources.includes(name) ? ['by request'] : []),
  ];
  return uses.join(', ') || 'off';
}
