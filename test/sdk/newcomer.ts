/** A folder in which tests follow the README of the client, line by line. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { packWorkspace } from '../support/programs/packed.ts';
import { DEMO_KEY } from '../support/servers/server.ts';
import { codeBlocks, readPage } from '../support/texts/markdown.ts';

export const ROOT: string = resolve(import.meta.dirname, '../..');

const BLOCKS = codeBlocks(readPage('sdk/README.md'));

function fenced(language: string): string[] {
  return BLOCKS.filter((block) => block.language === language).map(({ code }) => code);
}

/** The README's examples: programs in JavaScript that are also strict TypeScript, and one for CommonJS. */
export const EXAMPLES: readonly string[] = fenced('js');
const COMMONJS_EXAMPLE: string = fenced('cjs')[0] ?? '';

/** Output of the first example. */
export const FIRST_OUTPUT: RegExp =
  /^phm_\d+: 256 bits\ngenerated here\n\d+ of 1[35] tests passed, gate PASS\n\d keys in the last hour\n6\d steps of 1 min, \d validated keys\n9\d\d requests left this month\n$/;

const [make = [], install = [], runExample = [], runTyped = []] = fenced('sh').map((block) =>
  block.trimEnd().split('\n'),
);

/** The README's commands, in order. */
export const COMMANDS = { make, install, runExample, runTyped } as const;

/** The environment without the variables that `npm test` sets for this project, but with those of the registry. */
const OWN_ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(?:PHM_|npm_(?!config_(?:registry|userconfig|cache)$))/i.test(name),
  ),
);

type Environment = Readonly<Record<string, string>>;

/** An installation that hangs, for example because a connection was lost, is repeated once. */
const PATIENT_NPM = 'npm() { timeout 240 npm "$@" || timeout 240 npm "$@"; }';

export class Newcomer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sdk-'));
  /** Stands in for the clone: `npm pack` writes its file there. */
  readonly clone: string = join(this.#folder, 'phm');
  readonly project: string = join(this.#folder, 'my-project');

  /**
   * Packs the client and installs it as the README says, without a registry: the packages that it needs lie in the
   * project's folder already, copied from this project.
   */
  async install(): Promise<void> {
    mkdirSync(this.clone);
    await packWorkspace('sdk', this.clone);
    for (const name of ['@noble', 'hpke']) {
      const folder = join('node_modules', name);
      cpSync(join(ROOT, folder), join(this.project, folder), { recursive: true });
    }
    const make = COMMANDS.install.map((line) => line.replace(/^mkdir /, 'mkdir -p '));
    await this.shell(make, { npm_config_offline: 'true' }, this.clone);
  }

  /** Links the compiler and Node's types of this project to where `npm install` would put them. */
  linkCompiler(): void {
    const installed = join(ROOT, 'node_modules');
    const modules = join(this.project, 'node_modules');
    mkdirSync(join(modules, '@types'), { recursive: true });
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(join(installed, 'typescript'), join(modules, 'typescript'));
    symlinkSync(join(installed, '@types/node'), join(modules, '@types/node'));
    symlinkSync('../typescript/bin/tsc', join(modules, '.bin/tsc'));
  }

  write(file: string, text: string): void {
    const path = join(this.project, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Runs shell lines up to the first failure. Resolves with standard output. */
  async shell(
    lines: readonly string[],
    env: Environment = {},
    cwd: string = this.project,
  ): Promise<string> {
    const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
    const options = { cwd, env: { ...OWN_ENVIRONMENT, PATH: path, ...env } };
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-ec', [PATIENT_NPM, ...lines].join('\n')],
      options,
    );
    return stdout;
  }

  /** Runs every example with the Node at `node` against the service at `address`. */
  async runExamples(node: string, address: string): Promise<void> {
    assert.equal(EXAMPLES.length, 8);
    // Every block of the page runs: these, one for CommonJS, and the commands.
    assert.equal(BLOCKS.length, EXAMPLES.length + 1 + Object.keys(COMMANDS).length);
    for (const [i, code] of EXAMPLES.entries()) this.write(`example-${i}.mjs`, code);
    this.write('example.cjs', COMMONJS_EXAMPLE);
    const run = async (file: string, apiKey = DEMO_KEY) => {
      const env = { PHM_URL: address, PHM_API_KEY: apiKey };
      return (await promisify(execFile)(node, [file], { cwd: this.project, env })).stdout;
    };
    assert.match(await run('example-0.mjs'), FIRST_OUTPUT);
    assert.equal(await run('example-1.mjs'), '32 bytes\n24 bytes encrypted\n');
    assert.match(
      await run('example-2.mjs'),
      /^(?:phm_\d+ of 20\S+ expires 20\S+\n)+phm_\d+ is deactivated\n$/,
    );
    assert.match(
      await run('example-3.mjs'),
      /^valid\n[\s\S]*with its opening it fits[\s\S]*\nNot shown: /,
    );
    assert.match(await run('example-4.mjs'), /^phm_\d+: 32 bytes\n$/);
    assert.match(await run('example-5.mjs'), /^report\.txt\.phm has the key phm_\d+\n$/);
    assert.equal(readFileSync(join(this.project, 'copy.txt'), 'utf8'), 'the quarterly figures');
    assert.match(await run('example-6.mjs'), /^(?:phm_\d+\n){3}$/);
    assert.equal(await run('example-7.mjs'), '');
    assert.match(await run('example-7.mjs', `${DEMO_KEY}x`), /^401 invalid_api_key: Check .*\n$/);
    assert.equal(await run('example.cjs'), 'ok\n');
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
