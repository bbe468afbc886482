/** Follows a Dockerfile in plain folders: a stage is a folder, and `COPY` and `RUN` work in it. No container. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Returns the stages, each with its instructions: comments left out, continued lines joined. */
export function readStages(file: string): Instruction[][] {
  const text = readFileSync(file, 'utf8').replace(/^#.*\n/gm, '');
  const stages: Instruction[][] = [];
  for (const line of text.replaceAll('\\\n', '').split('\n')) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    if (name !== '') stages.at(-1)?.push({ name, text: rest.trim() });
  }
  return stages;
}

/** Returns the `--from`, the sources and the target of a COPY. */
export function copied({ text }: Instruction) {
  const words = text.split(' ');
  const paths = words.filter((word) => !word.startsWith('--'));
  const from = words.find((word) => word.startsWith('--from='));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

/** Copies as `COPY` does: the content of a folder, a file into a folder, or a file to a name. */
export function copy(sources: readonly string[], target: string): void {
  const isFolder = target.endsWith('/') || sources.length > 1;
  for (const source of sources) {
    assert.ok(statSync(source, { throwIfNoEntry: false }), `COPY ${source}: there is no such file`);
    if (statSync(source).isDirectory()) {
      cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    } else {
      const file = isFolder ? join(target, basename(source)) : target;
      mkdirSync(dirname(file), { recursive: true });
      cpSync(source, file);
    }
  }
}
