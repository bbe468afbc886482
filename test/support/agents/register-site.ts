/** Registers a site of an agent by commands, as its operator does. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandJson, runCommand } from '../servers/run-command.ts';

/**
 * Makes a site's key pair and API key in its folder, and has the service know it. Returns the thumbprint. The files are
 * `own.recipient-key` and `api-key`.
 */
export async function registerSite(
  name: string,
  folder: string,
  account: string,
  operator: Readonly<Record<string, string>>,
): Promise<string> {
  const admin = (...args: string[]) => commandJson<Record<string, string>>(args, operator);
  const pair = join(folder, 'own');
  const made = await runCommand(['recipient', 'new', '--output', pair], operator);
  assert.equal(made.code, 0, made.stderr);
  const of = ['--account', account];
  await admin('recipient', 'add', name, ...of, '--public-key', `${pair}.recipient`);
  const scopes = ['--scope', 'generate', '--scope', 'receive', '--recipient', name];
  const { api_key } = await admin('api-key', 'issue', ...of, ...scopes);
  writeFileSync(join(folder, 'api-key'), api_key ?? '', { mode: 0o600 });
  const shown = await runCommand(['recipient', 'show', `${pair}.recipient`, '--json'], operator);
  return JSON.parse(shown.stdout).thumbprint;
}
