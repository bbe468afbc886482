/**
 * Runs a tier of the tests, and reports the time of each file and of the tier:
 *
 *   node scripts/test.ts fast                        what every change must pass (npm test)
 *   node scripts/test.ts slow [group…]               eight groups, by folder (npm run test:slow)
 *   node scripts/test.ts campaign [name…] [--sample] random faults, kills, other toolchains (npm run campaign)
 *   node scripts/test.ts one FILE… [--name TEXT] [--watch]   (npm run test:one)
 *
 * CONTRIBUTING.md says when to run which.
 */
import { parseArgs } from 'node:util';
import { record } from './tests/record.ts';
import { runFiles } from './tests/run.ts';
import { filesOf, isTier, SAMPLE_CONCURRENCY, TIERS, UsageError } from './tests/tiers.ts';

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

async function main(args: readonly string[]): Promise<void> {
  const { tier, names, sample, watch, name } = read(args);
  const files = filesOf(tier, names);
  if (tier === 'campaign') process.env.PHM_CAMPAIGN = sample ? 'sample' : 'full';
  const { limitMs } = TIERS[tier];
  const concurrency = sample ? SAMPLE_CONCURRENCY : TIERS[tier].concurrency;
  const outcomes = await runFiles(files, { title: tier, limitMs, concurrency, watch, name });
  if (tier === 'campaign' && !sample) record(outcomes);
}

/** Returns what the command line asks for. Throws `UsageError`. */
function read(args: readonly string[]) {
  const { values, positionals } = parse(args);
  const [tier = '', ...names] = positionals;
  if (!isTier(tier)) {
    throw new UsageError(`expected one of ${Object.keys(TIERS).join(', ')}, got "${tier}"`);
  }
  if (values.sample && tier !== 'campaign') {
    throw new UsageError('--sample is for campaigns: node scripts/test.ts campaign --sample');
  }
  return { tier, names, ...values };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        sample: { type: 'boolean', default: false },
        watch: { type: 'boolean', default: false },
        name: { type: 'string', default: '' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
