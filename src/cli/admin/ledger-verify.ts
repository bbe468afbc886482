/** `phm ledger verify`: checks that the contents of the ledger agree with each other. */

import type { Command } from 'commander';
import { CommandError, untilInterrupted, writeJson } from '#platform/commands';
import { formatTimestamp, monotonicMs } from '../../clock.ts';
import { type Verification, verifyLedger } from '../../ledger/admin.ts';
import { openStoreToRead, storeLocation } from '../../ledger/index.ts';
import { commandLine } from '../../process/launcher.ts';
import { type CliContext, requireConfig } from '../context.ts';
import { tellFindings } from '../findings.ts';
import { counted, describeRows } from './row-counts.ts';
import { requireLedger, tellStore } from './with-store.ts';

const HELP = `
The command reads one snapshot and changes nothing. It needs no master secret, and so cannot tell if a commitment
belongs to a key. The exit code is 1 if it finds a problem.

Example, after a restore:
  phm ledger verify
`;

export function addVerifyCommand(ledger: Command, context: CliContext): void {
  ledger
    .command('verify')
    .description('check every row, counter and sum of the ledger; servers may run')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((options: { json?: boolean }) => verify(context, options));
}

async function verify(context: CliContext, { json }: { json?: boolean }): Promise<void> {
  const config = requireConfig(context);
  const location = storeLocation(config);
  tellStore(context, location);
  await requireLedger(context, config, 'read');
  // Throws on a schema that this program does not know.
  await (await openStoreToRead(location)).close();
  const startMs = monotonicMs();
  const line = context.status;
  const onProgress = (part: string, rows: number): void =>
    line.show(rows === 0 ? `${part} …` : `${part}: ${rows.toLocaleString('en')} rows`);
  const verification = await untilInterrupted((signal) =>
    verifyLedger(location, { nowMs: Date.now(), signal, onProgress }),
  ).finally(() => line.clear());
  const ms = Math.round(monotonicMs() - startMs);
  if (json) writeResult(context, verification, ms);
  else tell(context, verification, ms);
  const { length } = verification.findings;
  if (length === 0) return;
  throw new CommandError(
    `the ledger is inconsistent: ${length} ${length === 1 ? 'finding' : 'findings'}`,
    1,
  );
}

function writeResult(context: CliContext, verification: Verification, ms: number): void {
  const { rows, isComplete, findings, oldestRowMs, keysWithoutRow } = verification;
  const oldest_row = oldestRowMs === null ? null : formatTimestamp(oldestRowMs);
  writeJson(context, {
    ms,
    rows,
    complete: isComplete,
    oldest_row,
    keys_without_row: keysWithoutRow,
    findings,
  });
}

function tell(context: CliContext, verification: Verification, ms: number): void {
  const { err } = context;
  const { rows, isComplete, findings, keysWithoutRow } = verification;
  tellFindings(err, findings);
  if (keysWithoutRow > 0) err(describeMissing(context, verification));
  const checked = isComplete
    ? `Checked ${describeRows(rows)}, counters and sums`
    : `Part of the ledger could not be read. Checked ${describeRows(rows)}`;
  const seconds = (ms / 1000).toFixed(1);
  err(
    `${checked} in ${seconds} s. The check does not use the master secret, ` +
      'so it cannot tell if a commitment belongs to a key.\n',
  );
  if (findings.length === 0) err('No problems found.\n');
}

/** Says how many rows are missing. The sums cannot tell a pruned row from one that was deleted otherwise. The log can. */
function describeMissing(context: CliContext, verification: Verification): string {
  const { rows, oldestRowMs, keysWithoutRow } = verification;
  const keys = `${counted(keysWithoutRow, 'key')} in the sums ${keysWithoutRow === 1 ? 'has' : 'have'} no row`;
  const since =
    oldestRowMs === null ? '' : ` The oldest row dates from ${formatTimestamp(oldestRowMs)}.`;
  const next =
    rows.logs === 0
      ? ''
      : ` To compare the rows with the log: ${commandLine(context, 'log check')}`;
  return `${keys}, perhaps because retention removed the oldest rows.${since}${next}\n`;
}
