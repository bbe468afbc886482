/** Writes the list of a group, as the formatter wants it. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Group, listPath, type Mutant } from './list.ts';

export function writeList(root: string, group: Group, mutants: readonly Mutant[]): void {
  const path = listPath(root, group);
  const rows = mutants.map(({ group: _, ...row }) => row);
  writeFileSync(path, JSON.stringify(rows, null, 2));
  execFileSync(join(root, 'node_modules/.bin/biome'), ['format', '--write', path], { cwd: root });
}
