/** Finds out how this program was started, so that commands in its messages work as printed. */

import { relative } from 'node:path';
import { quote } from '#platform/terminal';

type Environment = Readonly<Record<string, string | undefined>>;

/** How this program was started. */
export interface Started {
  readonly env: Environment;
  readonly launcher: string;
}

/** Name under which the user called `bin/phm`, which sets this variable. */
const CALLED_AS = '_PHM';

/** Variables that name a store and hold no secret, in order of precedence. */
const STORE_VARIABLES = ['PHM_DATABASE_URL_FILE', 'PHM_DATA_DIR'] as const;

/** Commands that call a running service; all others work on a store. */
const CLIENT_COMMANDS = [
  'generate',
  'open',
  'encrypt',
  'decrypt',
  'reseal',
  'validate',
  'metrics',
  'receipt',
  'keys',
];

/** Returns the words that start this program again from the user's directory. */
export function findLauncher(
  env: Environment,
  [node = '', script = '']: readonly string[],
): string {
  const called = env[CALLED_AS];
  if (called) return env.npm_lifecycle_event === 'npx' ? 'npx phm' : quote(called);
  if (env.npm_command === undefined) return `${quote(node)} ${quote(script)}`;
  const root = env.npm_config_local_prefix ?? '';
  const here = env.INIT_CWD ?? root;
  return relative(root, here).startsWith('..')
    ? `npm --prefix ${quote(root)} run -s phm --`
    : 'npm run -s phm --';
}

/** Returns a complete command line for this program, on the store that this process uses. */
export function commandLine({ env, launcher }: Started, command: string): string {
  const name = STORE_VARIABLES.find((variable) => env[variable]);
  const elsewhere = CLIENT_COMMANDS.includes(command.split(' ', 1)[0] ?? '');
  // PHM_DATABASE_URL takes precedence. It may hold a password, so it is not repeated.
  const setting =
    name && !elsewhere && !env.PHM_DATABASE_URL ? `${name}=${quote(env[name] ?? '')} ` : '';
  return `${setting}${launcher} ${command}`;
}

/** Rewrites commands at the end of lines, as in `run: phm …`, to the form in which this user starts them. */
export function asStarted(message: string, context: Started): string {
  return message.replace(/(?<=: )phm ([a-z][a-z-]*)(?=[a-zA-Z -]*$)/gm, (_, command: string) =>
    commandLine(context, command),
  );
}
