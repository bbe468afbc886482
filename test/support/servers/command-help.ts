/** The help texts of the command line, read through `--help` as a user would. */
import { runCommand } from './run-command.ts';

/** Returns the help of `phm` and of each command, by its words: `''`, `'ledger'`, `'ledger prune'`. */
export async function readHelps(path: readonly string[] = []): Promise<Map<string, string>> {
  const { stdout } = await runCommand([...path, '--help']);
  const helps = new Map([[path.join(' '), stdout]]);
  for (const entry of helpEntries(stdout, 'Commands')) {
    const [word = ''] = entry.trim().split(' ');
    for (const [words, help] of await readHelps([...path, word])) helps.set(words, help);
  }
  return helps;
}

/** Returns the entries of a section of a help text, each with its description on one line. */
export function helpEntries(help: string, title: 'Commands' | 'Options'): string[] {
  const section = new RegExp(`^${title}:\n((?: .*\n)+)`, 'm').exec(help)?.[1] ?? '';
  return section
    .replace(/\n {8,}/g, '  ')
    .split('\n')
    .filter((line) => line !== '');
}
