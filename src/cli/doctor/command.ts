/** `phm doctor`: checks an installation, and says what to do. */

import type { Command } from 'commander';
import { writeJson } from '#platform/commands';
import { asStarted } from '../../process/launcher.ts';
import type { CliContext } from '../context.ts';
import { CHECKS } from './checks.ts';
import { examine } from './examination.ts';
import type { Finding, Status } from './finding.ts';

const HELP = `
Run it with the variables of the server, as the user of the server; servers may run. It changes nothing and contacts no
remote entropy source. Exit code 1: a check failed. Exit code 2: the configuration is invalid. Warnings leave it at 0.

Examples:
  phm doctor
  phm doctor --json
`;

interface Report {
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** From the worst to the best. */
const STATUSES: readonly Status[] = ['failed', 'warning', 'skipped', 'ok'];

export function addDoctorCommand(
  program: Command,
  context: CliContext,
  onExitCode: (exitCode: number) => void,
): void {
  program
    .command('doctor')
    .description('check the installation, its files and its database, and say what to do')
    .option('--json', 'write the checks as JSON')
    .addHelpText('after', HELP)
    .action(async (options: { json?: boolean }) => {
      onExitCode(await report(context, options));
    });
}

async function report(context: CliContext, { json }: { json?: boolean }): Promise<number> {
  const reports: Report[] = [];
  const isConfigured = await examine(context.env, (index, findings) => {
    const one = { name: CHECKS[index]?.name ?? '', findings };
    reports.push(one);
    if (!json) tell(context, one);
  });
  const isSound = reports.every(({ findings }) => worstOf(findings) !== 'failed');
  if (json) writeJson(context, { ok: isSound, checks: reports.map((one) => toJson(context, one)) });
  else context.err(summary(reports));
  if (isSound) return 0;
  return isConfigured ? 1 : 2;
}

function worstOf(findings: readonly Finding[]): Status {
  return STATUSES.find((status) => findings.some((one) => one.status === status)) ?? 'ok';
}

function toJson(context: CliContext, { name, findings }: Report): Record<string, string | null> {
  const remedies = [...new Set(findings.flatMap((one) => one.do ?? []))];
  return {
    name,
    status: worstOf(findings),
    detail: asStarted(findings.map(({ detail }) => detail).join('\n'), context),
    do: remedies.length === 0 ? null : asStarted(remedies.join('\n'), context),
  };
}

const NAME_WIDTH = Math.max(...CHECKS.map(({ name }) => name.length));
const STATUS_WIDTH = Math.max(...STATUSES.map((status) => status.length));
const MARGIN = ' '.repeat(STATUS_WIDTH + NAME_WIDTH + 4);

/** Writes a line for each finding, and below it what to do. */
function tell(context: CliContext, { name, findings }: Report): void {
  const write = (text: string) => context.out(asStarted(text, context));
  for (const { status, detail, do: remedy } of findings) {
    write(`${status.padEnd(STATUS_WIDTH)}  ${name.padEnd(NAME_WIDTH)}  ${detail}`);
    if (remedy !== null) write(`${MARGIN}Do: ${remedy}`);
  }
}

function summary(reports: readonly Report[]): string {
  const all = reports.flatMap(({ findings }) => findings);
  const counts = STATUSES.map(
    (status) => `${all.filter((one) => one.status === status).length} ${status}`,
  );
  return `${reports.length} checks, ${all.length} findings: ${counts.join(', ')}\n`;
}
