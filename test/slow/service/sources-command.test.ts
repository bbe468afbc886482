/**
 * `phm sources` and `phm stream` as users see them: stdout, stderr, exit code. They run in this process, or in a
 * separate one for tests that interrupt them or close their output.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gate, runPackedSuite } from '#sp800-22';
import { SOURCE_NAMES } from '../../../src/entropy/index.ts';
import { commandJson, runCommand } from '../../support/servers/run-command.ts';
import {
  type CommandResult,
  type Environment,
  environment,
  MAIN,
  makeDataDir,
  removeDataDir,
} from '../../support/servers/server.ts';

let dataDir: string;
before(() => {
  dataDir = makeDataDir();
});
after(() => removeDataDir(dataDir));

const phm = (args: readonly string[], env: Environment = {}) =>
  runCommand(args, { PHM_DATA_DIR: dataDir, ...env });
const phmJson = <T>(args: readonly string[], env: Environment = {}) =>
  commandJson<T>(args, { PHM_DATA_DIR: dataDir, ...env });

const device = (path: string): Environment => ({
  PHM_DEVICE_PATH: path,
  PHM_DEVICE_MIN_ENTROPY: '4',
});

const skip = process.platform !== 'linux' && 'devices of Linux';

/** Asserts an exit code, a message on stderr and an empty stdout. */
function assertEnds({ code, stdout, stderr }: CommandResult, expected: number, words: RegExp) {
  assert.equal(code, expected, stderr);
  assert.match(stderr, words);
  assert.equal(stdout, '');
}

/** A command whose output the test reads in bytes, as far as it needs. */
class Running {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;
  readonly #chunks: Buffer[] = [];
  #stderr = '';

  constructor(args: readonly string[], stdout: 'pipe' | number = 'pipe') {
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      env: environment(dataDir, {}),
      stdio: ['ignore', stdout, 'pipe'],
    });
    this.#exit = once(this.#child, 'close');
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    this.#child.stderr?.on('data', (chunk) => {
      this.#stderr += chunk;
    });
  }

  async untilOutput(bytes: number): Promise<void> {
    while (Buffer.concat(this.#chunks).length < bytes)
      await once(this.#child.stdout ?? this.#child, 'data');
  }

  interrupt(signal: NodeJS.Signals = 'SIGINT'): void {
    this.#child.kill(signal);
  }

  /** Keeps the pipe open and takes nothing. */
  pauseOutput(): void {
    this.#child.stdout?.pause();
  }

  /** Stops reading, as `| head` does. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
  }

  async ended(): Promise<{ code: unknown; output: Buffer; stderr: string }> {
    const [code] = await this.#exit;
    return { code, output: Buffer.concat(this.#chunks), stderr: this.#stderr };
  }
}

async function output(...args: string[]): Promise<Buffer> {
  const { code, bytes, stderr } = await phm(args);
  assert.equal(code, 0, stderr);
  return bytes;
}

describe('phm sources', () => {
  it('lists every source with its use, credit, state and assessment', async () => {
    const { code, stdout, stderr } = await phm(['sources']);
    assert.equal(code, 0);
    assert.equal(stderr, '');
    const [heading, ...rows] = stdout.trimEnd().split('\n');
    assert.match(heading, /^NAME +KIND +USE +CREDIT +STATUS +ASSESSMENT$/);
    assert.deepEqual(
      rows.map((row) => row.split(' ')[0]),
      SOURCE_NAMES,
    );
    assert.match(rows[0], /^os +system +always, default, by request +256 +ok /);
    assert.match(stdout, /^qrng .+ not set up /m);
  });

  it('lists them as JSON without a request to remote ones', async () => {
    const rows = await phmJson<Record<string, unknown>[]>(['sources'], {
      PHM_ENTROPY_SOURCES: 'qrng',
      PHM_ENTROPY_MIX: 'jitter',
      PHM_QRNG_PROFILE: 'open-api',
      PHM_QRNG_URL: 'http://127.0.0.1:9',
    });
    const of = (name: string) => rows.find((row) => row.name === name);
    assert.deepEqual(Object.keys(rows[0]), [
      'name',
      'kind',
      'use',
      'credit_bits_per_draw',
      'status',
      'assessment',
    ]);
    assert.deepEqual(
      [of('qrng')?.use, of('qrng')?.status],
      ['by request', 'set up, not contacted'],
    );
    assert.equal(of('jitter')?.use, 'mixed in');
    assert.equal(of('jitter')?.credit_bits_per_draw, 0);
    assert.match(String(of('jitter')?.assessment), /^not credited/);
  });

  it('reports a device that is stuck or does not deliver', { skip }, async () => {
    for (const [path, words] of [
      ['/dev/zero', /failed: the repetition count test/],
      ['/dev/null', /failed: .+ ended after 0 of 64 bytes/],
      [dataDir, /failed: .+ is neither a character device nor a FIFO/],
      [join(dataDir, 'missing'), /failed: .+ does not exist/],
    ] as const) {
      const { code, stdout } = await phm(['sources'], device(path));
      assert.equal(code, 0);
      assert.match(stdout.split('\n').find((line) => line.startsWith('device')) ?? '', words);
    }
  });

  it('names the fault of a source that it cannot open', async () => {
    const commands = [['test'], ['raw', '--bytes', '10'], ['restarts']];
    const file = join(dataDir, 'credential');
    writeFileSync(file, 'a secret\nof two lines');
    const credential = { PHM_QRNG_PROFILE: 'anu', PHM_QRNG_API_KEY_FILE: file };
    await Promise.all(
      commands.map(async ([command, ...options]) => {
        const run = (name: string, more?: Environment) =>
          phm(['sources', command, name, ...options], more);
        assertEnds(await run('nope'), 2, /^phm: there is no source "nope": use one of os, /);
        assertEnds(await run('device'), 2, /^phm: the source "device" is not set up/);
        const unreadable = await run('qrng', credential);
        assertEnds(
          unreadable,
          1,
          /^phm: the file of PHM_.+ is not a credential: it must be one line/,
        );
        assert.ok(!unreadable.stderr.includes('secret'));
      }),
    );
  });

  it('exits with an error if the device does not deliver', { skip }, async () => {
    for (const args of [
      ['test', 'device'],
      ['raw', 'device', '--bytes', '10'],
    ]) {
      const result = await phm(['sources', ...args], device('/dev/null'));
      assertEnds(result, 1, /^phm: \/dev\/null \(PHM_DEVICE_PATH\) ended after 0 of 64 bytes\.$/m);
    }
  });
});

describe('phm sources test', () => {
  it('prints the verdicts and the estimate, as text and as JSON', { skip }, async () => {
    const args = ['sources', 'test', 'device', '--samples', '3000'];
    // Estimates from so few 8-bit samples are about 5.5, sometimes 4.8.
    const env = { ...device('/dev/urandom'), PHM_DEVICE_MIN_ENTROPY: '2' };
    const { code, stdout, stderr } = await phm(args, env);
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Startup tests, 1,024 samples: passed\nHealth tests, 3,000 samples: passed$/m,
    );
    assert.match(stdout, /^Claimed for the health tests: 2 bits per symbol\.$/m);
    const report = await phmJson<Record<string, unknown>>(args, env);
    assert.deepEqual(report.health, { start_up: { level: 'passed' }, all: { level: 'passed' } });
    assert.deepEqual([report.source, report.meets_claim], ['device', true]);
  });

  it('exits with code 1 if a health test fails', { skip }, async () => {
    const args = ['sources', 'test', 'device', '--samples', '2000'];
    const { code, stdout, stderr } = await phm(args, device('/dev/zero'));
    assert.equal(code, 1);
    assert.match(stdout, /FAILED \(permanent\): repetition count at sample 15/);
    assert.equal(stderr, 'phm: a health test failed\n');
  });

  it('draws at least 1,024 samples, and no more than it can assess', async () => {
    const few = await phm(['sources', 'test', 'os', '--samples', '1']);
    assert.match(few.stdout, /^Health tests, 1,024 samples: passed$/m);
    assert.match(few.stderr, /^warning: "os" has no raw noise\. These samples/);
    const many = ['sources', 'test', 'jitter', '--samples', '99999999999'];
    assertEnds(await phm(many), 2, /^phm: --samples .+ at most 134,217,728 samples of 8 bits/);
    for (const samples of ['0', '-5', '1e6']) {
      const wrong = await phm(['sources', 'test', 'os', '--samples', samples]);
      assertEnds(wrong, 2, /use a whole number of 1 or more/);
    }
  });
});

describe('phm sources raw', () => {
  it('writes the requested number of samples and nothing else to stdout', async () => {
    for (const length of [1, 1_000, 70_001]) {
      const bytes = await output('sources', 'raw', 'jitter', '--bytes', String(length));
      assert.equal(bytes.length, length);
    }
    assertEnds(await phm(['sources', 'raw', 'os', '--bytes', '0']), 2, /whole number/);
  });

  it('ends with one line on SIGINT', async () => {
    const interrupted = new Running(['sources', 'raw', 'jitter', '--bytes', '1000000000']);
    await interrupted.untilOutput(1);
    interrupted.interrupt();
    const { code, stderr } = await interrupted.ended();
    assert.deepEqual([code, stderr], [1, 'phm: interrupted\n']);
  });
});

describe('phm sources restarts', () => {
  it('ends on SIGINT after whole rows, which differ', async () => {
    const running = new Running(['sources', 'restarts', 'jitter']);
    await running.untilOutput(2_000);
    running.interrupt();
    const { code, output: rows, stderr } = await running.ended();
    assert.deepEqual([code, stderr], [1, 'phm: interrupted\n']);
    assert.equal(rows.length % 1_000, 0);
    assert.notDeepEqual(rows.subarray(0, 1_000), rows.subarray(1_000, 2_000));
  });
});

describe('phm stream', () => {
  it('writes exactly the requested bits, of part of a sample or of two samples', async () => {
    for (const bits of [8, 1_000]) {
      assert.equal((await output('stream', '--bits', String(bits))).length, bits / 8);
    }
    const piped = await new Running(['stream', '--bits', String(2 ** 20 + 8)]).ended();
    assert.deepEqual([piped.code, piped.stderr], [0, '']);
    assert.equal(piped.output.length, 2 ** 17 + 1);
  });

  it('accepts only multiples of 8 bits', async () => {
    for (const [bits, words] of [
      ['7', /use a multiple of 8/],
      ['0', /use a whole number of 1 or more/],
      ['-8', /use a whole number of 1 or more/],
    ] as const) {
      assertEnds(await phm(['stream', '--bits', bits]), 2, words);
    }
  });

  it('writes different bits in each run, with and without modulation', async () => {
    const runs = await Promise.all(
      ['phase', 'phase', 'none', 'none'].map((type) =>
        output('stream', '--bits', '256', '--modulation', type),
      ),
    );
    assert.equal(new Set(runs.map((bytes) => bytes.toString('hex'))).size, 4);
  });

  it('passes the gate of the service', async () => {
    const report = runPackedSuite(await output('stream', '--bits', String(2 ** 20)));
    assert.equal(gate(report).verdict, 'PASS');
  });

  it("writes the generator's output before modulation by default", async () => {
    const { stdout } = await phm(['stream', '--help']);
    assert.match(stdout, /--modulation <type> .*default: "none"/s);
  });

  it('exits with code 1 and one line on SIGINT or a closed pipe before --bits', async () => {
    const ends: [RegExp, (running: Running) => void][] = [
      [/^phm: interrupted\n$/, (running) => running.interrupt()],
      [/^phm: the output cannot be written\n$/, (running) => running.closeOutput()],
    ];
    for (const [words, end] of ends) {
      const running = new Running(['stream', '--bits', String(2 ** 40)]);
      await running.untilOutput(1);
      end(running);
      const { code, stderr } = await running.ended();
      assert.equal(code, 1);
      assert.match(stderr, words);
    }
  });

  it('runs without --bits until its reader closes the pipe, and ends with code 0', async () => {
    const running = new Running(['stream']);
    await running.untilOutput(2 ** 18);
    running.closeOutput();
    const { code, stderr } = await running.ended();
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('ends on SIGINT and SIGTERM if the reader of the pipe takes nothing', async () => {
    for (const [bits, signal, ...end] of [
      [[], 'SIGTERM', 0, ''],
      [['--bits', String(2 ** 40)], 'SIGINT', 1, 'phm: interrupted\n'],
    ] as const) {
      const running = new Running(['stream', ...bits]);
      await running.untilOutput(1);
      running.pauseOutput();
      running.interrupt(signal);
      const { code, stderr } = await running.ended();
      assert.deepEqual([code, stderr], end);
    }
  });

  it('ends on SIGINT while it writes to a file', async (t) => {
    const path = join(dataDir, 'stream.bin');
    const file = openSync(path, 'w');
    t.after(() => {
      closeSync(file);
      rmSync(path);
    });
    const bytes = 2 ** 29;
    const running = new Running(['stream', '--bits', String(8 * bytes)], file);
    while (statSync(path).size === 0) await setTimeout(20);
    running.interrupt();
    assert.equal((await running.ended()).code, 1);
    assert.ok(statSync(path).size < bytes);
  });

  it('exits with code 1 and the reason on a full disk', { skip }, async (t) => {
    const full = openSync('/dev/full', 'w');
    t.after(() => closeSync(full));
    for (const bits of [[], ['--bits', '8']]) {
      const { code, stderr } = await new Running(['stream', ...bits], full).ended();
      assert.equal(code, 1);
      assert.match(stderr, /^phm: the output cannot be written: no space left.*\n$/);
    }
  });
});
