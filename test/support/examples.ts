/** Finds and runs the documented examples, unchanged. */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'docs/examples');

const CLIENT_SOURCES = join(import.meta.dirname, 'client-sources.ts');

/** The address in the examples. */
export const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080';

interface Language {
  readonly name: string;
  readonly suffix: string;
  /** Program and arguments. The program reads the example from standard input. */
  readonly command: readonly [string, ...string[]];
  /** The reason why examples cannot run here, or undefined. */
  readonly lacking: () => string | undefined;
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'curl',
    suffix: '.sh',
    command: ['sh', '-e'],
    lacking: () => lackingProgram('curl'),
  },
  {
    name: 'typescript',
    suffix: '.ts',
    command: [process.execPath, '--import', CLIENT_SOURCES, '--input-type=module-typescript', '-'],
    lacking: () => undefined,
  },
  {
    name: 'python',
    suffix: '.py',
    command: ['python3', '-'],
    lacking: () => lackingProgram('python3'),
  },
];

function lackingProgram(name: string): string | undefined {
  return spawnSync(name, ['--version']).status === 0 ? undefined : `there is no ${name} here`;
}

/** Returns the operations that have an example in a language. */
export function operationsWithExamples({ name, suffix }: Language): string[] {
  const files = readdirSync(join(FOLDER, name)).sort();
  return files.map((file) => file.slice(0, -suffix.length));
}

export function readExample({ name, suffix }: Language, operation: string): string {
  return readFileSync(join(FOLDER, name, operation + suffix), 'utf8');
}

/** Runs an example with only the server's address replaced, and resolves with its output. */
export function runExample(
  { command: [program, ...args] }: Pick<Language, 'command'>,
  source: string,
  address: string,
): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: ROOT, timeout: 60_000 });
    let printed = '';
    let words = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    child.stderr.on('data', (chunk) => {
      words += chunk;
    });
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done(printed);
      else fail(new Error(`the example ended with ${code}: ${words}`));
    });
    child.stdin.end(source.replaceAll(EXAMPLE_ADDRESS, address));
  });
}
