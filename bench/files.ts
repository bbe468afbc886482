/**
 * Measures encrypted files of both clients beside AES-256-GCM of the same runtime over the same bytes.
 *
 *   node bench/files.ts [--mib N] [--rounds N] [--folder DIR] [--clock] [--save]
 *
 * "Memory": chunks of 1 MiB through the cipher, and through the clients' content. "File": from a file to a file with a sync at the
 * end. AES-GCM is what the runtime does fastest: in Node `createCipheriv`, one message for all; in Python `AESGCM`, one message
 * for each chunk. Rounds take turns, and a ratio is of medians of one run: AES-GCM = 1, and 0.5 is half its speed. Figures are of
 * the processor time of all threads, which other work on the machine changes less; with `--clock`, of the time by the clock.
 * In Node also the Web Crypto API, in which browsers encrypt. Needs Python 3.10 or newer for the second client.
 */
import { execFile } from 'node:child_process';
import { createCipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { webCipher } from '../sdk/src/files/cipher.ts';
import { decryptContent, encryptContent } from '../sdk/src/files/segments.ts';
import { decryptFile, newRecipient } from '../sdk/src/index.ts';
import { site } from '../test/sdk/encrypted-files.ts';
import { pythonEnvironment } from '../test/support/programs/python.ts';
import { machine, median, saveResult } from './results.ts';

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '3' },
    folder: { type: 'string', default: tmpdir() },
    clock: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
});
const mib = Number(values.mib);
const rounds = Number(values.rounds);
const MIB = 2 ** 20;

type Round = Readonly<Record<string, number>>;

const chunk = randomBytes(MIB);
async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < mib; i += 1) yield chunk;
}

/** Returns the seconds of the processor, in all threads, or those of the clock. */
function secondsNow(): number {
  if (values.clock) return performance.now() / 1e3;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = secondsNow();
  await work();
  return secondsNow() - start;
}

async function drain(source: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of source);
}

const contentKey = () => ({ key: new Uint8Array(32).fill(1), associatedData: new Uint8Array(20) });

async function* plain(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const cipher = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12));
  for await (const one of source) yield cipher.update(one);
  cipher.final();
}

/** The Web Crypto API alone, and as the content of a file in a browser. */
async function web(): Promise<{ readonly plain: number; readonly file: number }> {
  const bare = await webCipher(new Uint8Array(32).fill(1));
  const nonce = new Uint8Array(12);
  const alone = await timed(async () => {
    for (let i = 0; i < mib; i += 1) await bare.seal(nonce, new Uint8Array(chunk));
  });
  const { getBuiltinModule } = process;
  process.getBuiltinModule = (() => undefined) as never;
  const file = await timed(() => drain(encryptContent(chunks(), contentKey())));
  process.getBuiltinModule = getBuiltinModule;
  return { plain: alone, file };
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, 'r');
  const buffer = new Uint8Array(MIB);
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, MIB);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function plainFile(path: string, out: string): Promise<void> {
  const handle = await open(out, 'w');
  for await (const one of plain(readFile(path))) await handle.write(one);
  await handle.sync();
  await handle.close();
}

async function nodeRounds(folder: string): Promise<Round[]> {
  const at = (name: string) => join(folder, name);
  const stream = createWriteStream(at('in'));
  for await (const one of chunks()) if (!stream.write(one)) await once(stream, 'drain');
  await new Promise((done) => stream.end(done));
  const me = await newRecipient();
  const all: Round[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const { phm } = site();
    const out = { overwrite: true };
    const encrypt = await timed(() => drain(encryptContent(chunks(), contentKey())));
    const both = await timed(() =>
      drain(decryptContent(encryptContent(chunks(), contentKey()), contentKey())),
    );
    const viaWeb = await web();
    const alone = await timed(() => drain(plain(chunks())));
    all.push({
      plain: alone,
      plain_twice: 2 * alone,
      encrypt,
      both,
      plain_file: await timed(() => plainFile(at('in'), at('plain'))),
      encrypt_file: await timed(() =>
        phm.encryptFile(at('in'), { to: me, out: at('sealed'), ...out }),
      ),
      decrypt_file: await timed(() =>
        decryptFile(at('sealed'), { recipientKey: me, out: at('opened'), ...out }),
      ),
      web_plain: viaWeb.plain,
      web_encrypt: viaWeb.file,
    });
  }
  if (statSync(at('opened')).size !== mib * MIB) throw new Error('another length');
  return all;
}

async function pythonRounds(folder: string): Promise<Round[] | string> {
  const root = resolve(import.meta.dirname, '..');
  const requirements = join(root, 'sdk/python/tests/requirements.txt');
  const { python, skip } = await pythonEnvironment('client', requirements);
  if (skip) return skip;
  const args = [
    join(root, 'bench/files.py'),
    folder,
    String(mib),
    String(rounds),
    values.clock ? 'clock' : 'processor',
  ];
  const env = { ...process.env, PYTHONPATH: join(root, 'sdk/python/src') };
  const { stdout } = await promisify(execFile)(python, args, { env });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Round);
}

const PAIRS = [
  ['encrypt in memory', 'plain', 'encrypt'],
  ['encrypt and decrypt in memory', 'plain_twice', 'both'],
  ['encrypt a file', 'plain_file', 'encrypt_file'],
  ['decrypt a file', 'plain_file', 'decrypt_file'],
  ['encrypt by the Web Crypto API', 'web_plain', 'web_encrypt'],
] as const;

function report(name: string, all: readonly Round[]): string {
  const rows = PAIRS.filter(([, base]) => all[0]?.[base] !== undefined).map(([what, base, own]) => {
    const [a, b] = [base, own].map((member) => median(all.map((one) => one[member] ?? 0)));
    const rate = (seconds: number) => `${((mib * MIB) / seconds / 1e6).toFixed(0)} MB/s`;
    const figures = [rate(a ?? 0).padStart(10), rate(b ?? 0).padStart(10)];
    return `  ${what.padEnd(30)} AES-GCM ${figures[0]}, client ${figures[1]}: ${((a ?? 0) / (b ?? 1)).toFixed(2)}`;
  });
  return `${name}, ${mib} MiB, by ${values.clock ? 'the clock' : 'processor time'}, medians of ${all.length} rounds\n${rows.join('\n')}\n`;
}

const folder = mkdtempSync(join(values.folder, 'phm-bench-'));
try {
  const node = report('TypeScript client in Node', await nodeRounds(folder));
  const rows = await pythonRounds(folder);
  const python = typeof rows === 'string' ? `Python: ${rows}\n` : report('Python client', rows);
  const text = `${machine()}\n\n${node}\n${python}`;
  process.stdout.write(text);
  if (values.save) saveResult('files', text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
