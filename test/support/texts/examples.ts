/** Finds and runs the documented examples, unchanged. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'docs/examples');

const CLIENT_SOURCES = join(import.meta.dirname, '../clients/client-sources.ts');

const RUNNERS = {
  typescript: join(import.meta.dirname, 'run-examples.ts'),
  python: join(import.meta.dirname, 'run-examples.py'),
};

/** The address in the examples. */
export const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080';

/** What an example printed, or why it failed. */
export type Outcome = { readonly printed: string } | { readonly failure: string };

interface Language {
  readonly name: string;
  readonly suffix: string;
  /** The file with the calls that the examples make. */
  readonly client?: string;
  /**
   * Program and arguments that run examples one after another in one process, since most of an example's time is the
   * start of its program. The program appends the examples' old and new address and their files, and prints a
   * JSON array of their outcomes. Without it each example is the input of a shell.
   */
  readonly runner?: readonly [string, ...string[]];
  /** The reason why examples cannot run here, or undefined. */
  readonly lacking: () => string | undefined;
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'curl',
    suffix: '.sh',
    lacking: () => lackingProgram('curl'),
  },
  {
    name: 'typescript',
    suffix: '.ts',
    client: 'sdk/src/client.ts',
    runner: [process.execPath, '--import', CLIENT_SOURCES, RUNNERS.typescript],
    lacking: () => undefined,
  },
  {
    name: 'python',
    suffix: '.py',
    client: 'sdk/python/src/phm_client/client.py',
    runner: ['python3', RUNNERS.python],
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

/** Returns the path of an example from the root of the project. */
export function pathOfExample({ name, suffix }: Language, operation: string): string {
  return `docs/examples/${name}/${operation}${suffix}`;
}

export function readExample(language: Language, operation: string): string {
  return readFileSync(join(ROOT, pathOfExample(language, operation)), 'utf8');
}

/** Runs all examples of a language with only the server's address replaced. Returns their outcomes by operation. */
export async function runExamples(
  language: Language,
  address: string,
): Promise<Map<string, Outcome>> {
  const operations = operationsWithExamples(language);
  const { runner } = language;
  const outcomes = runner
    ? await runTogether(
        runner,
        operations.map((operation) => join(ROOT, pathOfExample(language, operation))),
        address,
      )
    : await runInShells(
        operations.map((operation) => readExample(language, operation)),
        address,
      );
  return new Map(operations.map((operation, i) => [operation, outcomes[i] as Outcome]));
}

/** Returns what an example printed. Throws an error that names the files to look at if it failed. */
export function printedBy(language: Language, operation: string, outcome: Outcome): string {
  if ('printed' in outcome) return outcome.printed;
  const client = language.client ? `, or ${language.client} if it calls the client` : '';
  const path = pathOfExample(language, operation);
  throw new Error(`${path} failed: correct it${client}.\n${outcome.failure}`);
}

async function runTogether(
  [program, ...args]: readonly [string, ...string[]],
  files: readonly string[],
  address: string,
): Promise<readonly Outcome[]> {
  const { stdout } = await promisify(execFile)(
    program,
    [...args, EXAMPLE_ADDRESS, address, ...files],
    { cwd: ROOT, timeout: 60_000 },
  );
  return JSON.parse(stdout);
}

async function runInShells(sources: readonly string[], address: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const source of sources) {
    outcomes.push(
      await runInShell(source, address).then(
        (printed) => ({ printed }),
        (error: unknown) => ({ failure: String(error) }),
      ),
    );
  }
  return outcomes;
}

/** Runs shell commands with only the server's address replaced, and resolves with their output. */
export function runInShell(source: string, address: string): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn('sh', ['-e'], { cwd: ROOT, timeout: 60_000 });
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
