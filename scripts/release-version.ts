/**
 * Sets the version everywhere, or dates the head of the changelog (docs/releasing.md):
 *
 *     npx node scripts/release-version.ts 0.2.0
 *     npx node scripts/release-version.ts --date 2026-11-24
 *
 * Without arguments it checks that all places agree.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dateHead, readVersion, versionFaults, writeVersion } from './release/version.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const { values, positionals } = parseArgs({
  options: { date: { type: 'string' } },
  allowPositionals: true,
});

if (positionals[0] !== undefined) writeVersion(root, positionals[0]);
if (values.date !== undefined) dateHead(root, values.date);
const faults = versionFaults(root);
for (const line of faults) process.stderr.write(`${line}\n`);
if (faults.length === 0) process.stdout.write(`${readVersion(root)} everywhere\n`);
else process.exitCode = 1;
