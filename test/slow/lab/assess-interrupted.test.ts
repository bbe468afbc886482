/** `phm assess` in a process of its own: signals, closed pipes, and what it writes to stderr. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { AssessReport } from '#sp800-22';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { OpenAssess } from '../../support/lab/open-assess.ts';
import { makeDataDir, removeDataDir, runPhm } from '../../support/servers/server.ts';

let dataDir: string;
before(() => {
  dataDir = makeDataDir();
});
after(() => removeDataDir(dataDir));

/** Returns an AES-256-CTR stream, which passes the tests and is the same in every run. */
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 5), length);

function write(name: string, content: Uint8Array): string {
  const path = join(dataDir, name);
  writeFileSync(path, content);
  return path;
}

/** Sends the signal with the first sequence: a slow process beside it could be late. */
const INTERRUPTS_ITSELF = `
  const { write } = process.stdout;
  process.stdout.write = function (text, ...rest) {
    if (text.includes('"total_tests"')) {
      process.stdout.write = write;
      process.kill(process.pid, 'SIGINT');
    }
    return write.call(this, text, ...rest);
  };
`;

interface ManyReport {
  readonly sequences: readonly AssessReport[];
  readonly summary: { readonly sequences: number; readonly complete: boolean };
}

describe('an interrupted phm assess', () => {
  /** Interrupts the command after slightly more than three sequences; standard input stays open. */
  async function interrupted(kind: string[], written: string): Promise<OpenAssess> {
    const command = new OpenAssess(['-', '--bits', '1000', '--sequences', 'all', ...kind]);
    command.child.stdin?.write(stream(380));
    await command.untilWritten(written);
    const ended = command.ended();
    command.child.kill('SIGINT');
    assert.equal(await ended, 1, command.stderr);
    return command;
  }

  it('reports the finished sequences and exits with code 1', async () => {
    // Two separators show that three sequences have been written.
    const { stdout, stderr } = await interrupted(
      ['--json', '--test', 'frequency', '--sequences', '9'],
      '"total_tests":1},{"bits":1000,"constants":"exact","alpha":0.01,"tests":[{"name":"frequency","applicable":true,"parameters":',
    );
    const report = JSON.parse(stdout) as ManyReport;
    assert.ok(report.sequences.length >= 2 && report.sequences.length <= 3);
    assert.deepEqual(
      [report.summary.sequences, report.summary.complete],
      [report.sequences.length, false],
    );
    assert.equal(
      stderr,
      `phm: interrupted; the report covers the finished part, ${report.sequences.length} sequences\n`,
    );
  });

  it('has written the CSV lines of the finished sequences', async () => {
    const { stdout } = await interrupted(['--csv', '--test', 'runs'], '\n3,runs,1,,');
    const [lines, verdict] = stdout.split('# Report,')[0].split('# Source,');
    assert.equal(lines.trim().split('\n').length, 4);
    // The verdict covers what was finished: one of these three has the smallest p-value.
    const [, p, sequence] =
      /^# Smallest p-value,"(\S+), runs, sequence (\d), /m.exec(verdict) ?? [];
    const ps = [...lines.matchAll(/^(\d),runs,1,,([^,]+),/gm)].map(([, , one]) => Number(one));
    assert.deepEqual(
      [p, Number(sequence)],
      [Math.min(...ps).toFixed(6), ps.indexOf(Math.min(...ps)) + 1],
    );
    assert.match(verdict, /^"passed"\n/);
    assert.match(
      verdict,
      /^# Part: second level,"not judged, .*: needs at least 55 sequences, got 3"$/m,
    );
  });

  it('ends soon on one thread, although the bytes of 8,388 sequences are in memory', async () => {
    const file = write('many.bin', stream(2 ** 21));
    const options = ['--bits', '1000', '--sequences', 'all', '--threads', '1', '--json'];
    const command = new OpenAssess([file, ...options], INTERRUPTS_ITSELF);
    assert.equal(await command.ended(), 1, command.stderr);
    const { summary } = JSON.parse(command.stdout) as ManyReport;
    assert.ok(summary.sequences < 8_000, `${summary.sequences} sequences`);
  });

  it('says that no sequence was finished', async () => {
    const command = new OpenAssess(['-', '--bits', String(2 ** 26)]);
    // The input exceeds the pipe's buffer but not a sequence, so the write ends only once the command reads.
    await new Promise((resolve) => command.child.stdin?.write(Buffer.alloc(2 ** 22), resolve));
    const ended = command.ended();
    command.child.kill('SIGINT');
    assert.equal(await ended, 1);
    assert.equal(command.stdout, '');
    assert.equal(command.stderr, 'phm: interrupted before a sequence was finished\n');
  });

  it('exits with a message when the reader of its output has closed the pipe', async () => {
    const command = new OpenAssess(['/dev/zero', '--bits', '1000', '--sequences', 'all', '--csv']);
    await command.untilWritten('\n1,frequency');
    command.child.stdout?.destroy();
    assert.equal(await command.ended(), 1);
    assert.equal(command.stderr, 'phm: the output cannot be written\n');
  });

  it('does not exit with code 0 if its only report could not be written', async () => {
    const command = new OpenAssess([write('lost.bin', stream(200))]);
    command.child.stdout?.destroy();
    assert.equal(await command.ended(), 1);
    assert.equal(command.stderr, 'phm: the output cannot be written\n');
  });
});

describe('phm assess', () => {
  it('writes no progress to stderr if that is not a terminal', async () => {
    const args = [
      'assess',
      write('quiet.bin', stream(30_000)),
      '--bits',
      '1000',
      '--sequences',
      'all',
    ];
    const { code, stderr } = await runPhm(args, dataDir);
    assert.deepEqual([code, stderr], [0, '']);
  });
});
