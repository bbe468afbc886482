/** The package in sdk/, as somebody gets it who installs it in a project of their own. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findNode20 } from '../support/node-20.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROJECT = mkdtempSync(join(tmpdir(), 'sdk-'));

const EXAMPLES = [
  ...readFileSync(join(ROOT, 'sdk/README.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```/g),
].map(([, code = '']) => code);

function run(command: string, args: readonly string[], cwd = PROJECT): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** What a project's own code may say, and what it may not. */
const CONSUMER = `
import { type ErrorCode, type GeneratedKey, PhmApiError, PhmClient } from 'phm-client';

const phm = new PhmClient({ baseUrl: 'https://keys.example/phm', apiKey: 'x', fetch });
export async function use(signal: AbortSignal): Promise<string> {
  const generated: GeneratedKey = await phm.generate({ security_level: 256 }, { signal });
  if (generated.quantum_hardware) return generated.hash_proof;
  const passed: number | undefined = generated.nist_validation?.tests_passed;
  const { quota } = phm.lastLimits;
  return \`\${generated.key} \${passed} \${quota?.remaining} \${(await phm.health()).status}\`;
}
export function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof PhmApiError)) return undefined;
  // @ts-expect-error: no such code.
  if (error.code === 'out_of_luck') return undefined;
  return error.code;
}
// @ts-expect-error: no such level.
phm.generate({ security_level: 512 });
// @ts-expect-error: the key is missing.
phm.validate({});
`;

describe('the package in sdk/', () => {
  let server: Server;
  let dataDir: string;

  before(async () => {
    const pack = ['pack', '--silent', '--pack-destination', PROJECT, '--workspace', 'sdk'];
    const file = run('npm', pack, ROOT).trim();
    writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--silent', `./${file}`]);
    for (const [i, code] of EXAMPLES.entries()) {
      writeFileSync(join(PROJECT, `example-${i}.mjs`), code);
    }
    writeFileSync(join(PROJECT, 'consumer.ts'), CONSUMER);
    dataDir = makeDataDir();
    server = await Server.start(dataDir);
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
    rmSync(PROJECT, { recursive: true, force: true });
  });

  it('brings code and types, and no dependency', () => {
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    const packages = Object.keys(lock.packages).map((path) => path.replace('node_modules/', ''));
    assert.deepEqual(packages, ['', 'phm-client']);
    const folder = join(PROJECT, 'node_modules/phm-client');
    const files = run('find', ['.', '-type', 'f'], folder).trim().split('\n').sort();
    const modules = files.filter((file) => file.endsWith('.js'));
    assert.ok(modules.includes('./dist/index.js'));
    assert.deepEqual(
      files,
      [
        './LICENSE',
        './README.md',
        ...modules.flatMap((file) => [file.replace(/js$/, 'd.ts'), file]),
        './package.json',
      ].sort(),
    );
  });

  it('needs nothing of Node', () => {
    const folder = join(PROJECT, 'node_modules/phm-client/dist');
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.js'))) {
      const code = readFileSync(join(folder, name), 'utf8');
      assert.doesNotMatch(code, /['"]node:|\bprocess\b|\bBuffer\b/, name);
    }
  });

  for (const [resolution, module, compiler] of [
    ['nodenext', 'nodenext', 'sdk/node_modules/.bin/tsc'],
    ['bundler', 'esnext', 'node_modules/.bin/tsc'],
  ] as const) {
    const major = compiler.startsWith('sdk') ? 5 : 7;
    it(`passes the type check of a strict project with ${resolution} of TypeScript ${major}`, () => {
      const modules = ['--module', module, '--moduleResolution', resolution];
      const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'];
      const lib = ['--lib', 'es2022,dom,dom.iterable', '--noEmit'];
      run(join(ROOT, compiler), [...modules, ...strict, ...lib, 'consumer.ts']);
    });
  }

  const node20 = findNode20();
  for (const [name, node] of [
    ['Node 26', process.execPath],
    ['Node 20', node20],
  ] as const) {
    const skip = node === undefined && `there is no ${name} on this machine's PATH`;
    const example = async (i: number, apiKey: string) => {
      const env = { PHM_URL: server.address, PHM_API_KEY: apiKey };
      const options = { cwd: PROJECT, env };
      return (await promisify(execFile)(node ?? '', [`example-${i}.mjs`], options)).stdout;
    };

    it(`runs the documented examples on ${name}`, { skip }, async () => {
      assert.equal(EXAMPLES.length, 2);
      assert.match(
        await example(0, DEMO_KEY),
        /^phm_\d+: 256 bits\nmade here\n\d keys in the last hour\n6\d steps of 1 min, \d validated keys\n9\d\d requests left this month\n$/,
      );
      assert.equal(await example(1, DEMO_KEY), '');
      assert.match(await example(1, `${DEMO_KEY}x`), /^401 invalid_api_key: Check the key .*\n$/);
    });
  }
});
