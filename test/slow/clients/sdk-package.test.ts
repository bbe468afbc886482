/**
 * The package in sdk/, as a newcomer installs it by its README in an empty folder. 6 s. test/sdk/ tests its
 * source.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { COMMANDS, EXAMPLES, FIRST_OUTPUT, Newcomer } from '../../sdk/newcomer.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

/** Code that a project may write, and code that it may not. */
const CONSUMER = `
import { type ErrorCode, type GeneratedKey, type ValidatedKey, PhmApiError, PhmClient } from 'phm-client';
import { type KeyUsage, keyBytes, toCryptoKey, type WebCryptoKey } from 'phm-client';
import { type Receipt, type ReceiptVerdict, verifyReceipt } from 'phm-client';

const phm = new PhmClient({ baseUrl: 'https://keys.example/phm', apiKey: 'x', fetch });
export async function use(signal: AbortSignal): Promise<string> {
  const plain = await phm.generate({ security_level: 256 }, { signal });
  const validated: ValidatedKey = await phm.generate({ security_level: 256, enable_nist_validation: true });
  const generated: GeneratedKey = plain;
  const passed: number | undefined = generated.nist_validation?.tests_passed;
  const { quota } = phm.lastLimits;
  return \`\${plain.hash_proof} \${validated.nist_grade} \${passed} \${quota?.remaining}\`;
}
export async function importKey(answer: GeneratedKey, usages: readonly KeyUsage[]): Promise<CryptoKey> {
  await crypto.subtle.importKey('raw', keyBytes(answer), 'HKDF', false, ['deriveBits']);
  const key: WebCryptoKey = await toCryptoKey(answer, usages, 'HKDF');
  return key;
}
export async function check(receipt: Receipt, policy: string): Promise<ReceiptVerdict> {
  const { valid, statement, problems } = await verifyReceipt(receipt, { policy, now: new Date() });
  if (valid) console.log(statement?.key_id, statement?.evidence?.verdict);
  // @ts-expect-error: problems are not for changing.
  problems.push('');
  return verifyReceipt('{}', { key: new Uint8Array(32), opening: '' });
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
  const newcomer = new Newcomer();
  const { project } = newcomer;
  let server: Server;
  let dataDir: string;

  before(async () => {
    dataDir = makeDataDir();
    [server] = await Promise.all([Server.start(dataDir), newcomer.install()]);
    newcomer.linkCompiler();
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
    newcomer.remove();
  });

  it('contains code and types, and depends on two libraries', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    const packages = Object.keys(lock.packages).map((path) => path.replace('node_modules/', ''));
    // Those of noble are of the same authors.
    const noble = ['ciphers', 'curves', 'hashes', 'post-quantum'].map((name) => `@noble/${name}`);
    assert.deepEqual(packages, ['', ...noble, 'hpke', 'phm-client']);
    const folder = join(project, 'node_modules/phm-client');
    const files = execFileSync('find', ['.', '-type', 'f'], { cwd: folder, encoding: 'utf8' });
    const names = files.trim().split('\n').sort();
    const modules = names.filter((file) => file.endsWith('.js'));
    assert.ok(modules.includes('./dist/sdk/src/index.js'));
    assert.ok(modules.includes('./dist/packages/tlog/src/index.js'));
    assert.ok(modules.includes('./dist/packages/sealing/src/index.js'));
    assert.deepEqual(
      names,
      [
        './LICENSE',
        './README.md',
        ...modules.flatMap((file) => [file.replace(/js$/, 'd.ts'), file]),
        './package.json',
      ].sort(),
    );
  });

  it('does not require Node', () => {
    const folder = join(project, 'node_modules/phm-client/dist');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const modules = files.filter((file) => file.endsWith('.js'));
    assert.ok(modules.length > 20);
    for (const name of modules) {
      const code = readFileSync(join(folder, name), 'utf8');
      // Where Node is there, its environment says what NO_PROXY names, and it has files and a faster cipher.
      const required = code
        .replace(/\{ process \} = globalThis\b/, '')
        .replace(/process\?\.(?:env|getBuiltinModule\?)/, '');
      assert.doesNotMatch(required, /['"]node:|\bprocess\b|\bBuffer\b/, name);
    }
  });

  it('runs as its README shows, line by line, as JavaScript and as strict TypeScript', async () => {
    const { make, runExample, runTyped } = COMMANDS;
    assert.deepEqual(make, ['npm ci', 'npm pack --workspace sdk']);
    const env = { PHM_URL: server.address };
    newcomer.write('example.mjs', EXAMPLES[0] ?? '');
    assert.match(await newcomer.shell(runExample, env), FIRST_OUTPUT);
    newcomer.write('typed.mts', EXAMPLES[0] ?? '');
    const [installCompiler, ...others] = runTyped;
    // test/campaigns/sdk-matrix.test.ts uses the registry; this test uses the same packages of this project.
    assert.equal(installCompiler, 'npm install --save-dev typescript @types/node');
    const key = runExample.filter((line) => line.startsWith('export'));
    assert.match(await newcomer.shell([...key, ...others], env), FIRST_OUTPUT);
  });

  it('passes the type check of a strict project', async () => {
    const files = EXAMPLES.map((_, i) => `check-${i}.mts`);
    for (const [i, file] of files.entries()) newcomer.write(file, EXAMPLES[i] ?? '');
    newcomer.write('consumer.mts', CONSUMER);
    const modules = '--module esnext --moduleResolution bundler --types node';
    const strict = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess';
    const lib = '--target es2022 --lib es2022,dom,dom.iterable --noEmit';
    await newcomer.shell([`npx tsc ${modules} ${strict} ${lib} consumer.mts ${files.join(' ')}`]);
  });

  // test/campaigns/sdk-matrix.test.ts covers Node 20.
  it('runs the documented examples', async () => {
    await newcomer.runExamples(process.execPath, server.address);
  });
});
