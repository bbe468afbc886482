/** The commands of the laboratory as commands of `phm`: packages/lab/test/ tests what they do. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { PROJECT_VERSION, softwareName } from '../../src/process/version.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';
import { commandJson, runCommand } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const folder = makeDataDir();
const file = join(folder, 'sample.bin');
writeFileSync(file, aesCtr(Buffer.alloc(32, 9), 12_500));
after(() => removeDataDir(folder));

describe('phm assess…', () => {
  it('names the service’s program and build in its reports', async () => {
    const build = softwareName();
    const program = `phm ${PROJECT_VERSION}`;
    const bits = await commandJson<Traced>(['assess', file, '--test', 'runs']);
    assert.deepEqual([bits.input?.program, bits.software.build], [program, build]);
    const entropy = await commandJson<Traced>(['assess-entropy', file, '--packed']);
    assert.deepEqual([entropy.input?.program, entropy.software.build], [program, build]);
    const sizes = ['--n-in', '512', '--n-out', '256', '--nw', '256', '--h-in', '300'];
    const conditioning = await commandJson<Traced>(['assess-conditioning', ...sizes]);
    assert.deepEqual([conditioning.program, conditioning.software.build], [program, build]);
    const ais = await runCommand(['assess-ais31', file, '--edition', '2.0', '--procedure', 'B']);
    assert.ok(
      ais.stdout.includes(`\nProgram                    ${program}, ${build}\n`),
      ais.stdout,
    );
  });

  it('names its own commands in help and advice', async () => {
    const { stdout } = await runCommand(['assess-conditioning', '--help']);
    assert.match(stdout, /^ {2}phm assess-conditioning --n-in 512/m);
    const packed = join(folder, 'bits.xz');
    writeFileSync(packed, Buffer.concat([Buffer.from('fd377a585a00', 'hex'), Buffer.alloc(100)]));
    const refused = await runCommand(['assess', packed]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^phm: .* No verdict: use xz -dc .* \| bin\/phm assess -/);
  });

  it('exits with the code of a verdict', async () => {
    writeFileSync(join(folder, 'zeros.bin'), new Uint8Array(12_500));
    const args = ['assess', join(folder, 'zeros.bin'), '--format', 'binary', '--test', 'frequency'];
    assert.equal((await runCommand(args)).code, 0);
    assert.equal((await runCommand([...args, '--fail'])).code, 1);
  });
});

interface Traced {
  readonly program?: string;
  readonly input?: { readonly program: string };
  readonly software: { readonly build: string };
}
