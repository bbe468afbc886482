/** A witness of c2sp.org/tlog-witness that others wrote and run: litewitness of filippo.io/torchwood. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY_ROOT } from '../../../src/log/index.ts';
import { freePort } from '../run/free-port.ts';

const NAME = 'witness.example/w1';
const START_MS = 10_000;

/** The reason why the witness cannot run, or undefined. It keeps its key in an SSH agent. */
export function noSshAgent(): string | undefined {
  return spawnSync('ssh-agent', ['-s', '-k']).error ? 'ssh-agent is missing' : undefined;
}

export class LiteWitness {
  readonly url: string;
  /** Its verifier key. */
  readonly vkey: string;
  readonly #database: string;
  readonly #children: readonly ChildProcess[];

  private constructor(url: string, vkey: string, database: string, children: ChildProcess[]) {
    this.url = url;
    this.vkey = vkey;
    this.#database = database;
    this.#children = children;
  }

  static async start(program: string, folder: string): Promise<LiteWitness> {
    const [key, socket] = [join(folder, 'witness-key'), join(folder, 'agent')];
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const listed = execFileSync('ssh-keygen', ['-lf', `${key}.pub`], { encoding: 'utf8' });
    const fingerprint = /SHA256:\S+/.exec(listed)?.[0] ?? '';
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    const deadline = Date.now() + START_MS;
    while (!existsSync(socket) && Date.now() < deadline) await sleep(20);
    const env = { ...process.env, SSH_AUTH_SOCK: socket };
    execFileSync('ssh-add', ['-q', key], { env, stdio: 'ignore' });

    const [port, database] = [await freePort(), join(folder, 'witness.db')];
    const witness = spawn(
      program,
      [
        ...['-name', NAME, '-db', database, '-ssh-agent', socket, '-key', fingerprint],
        ...['-listen', `127.0.0.1:${port}`],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const vkey = await keyFromLog(witness);
    return new LiteWitness(`http://127.0.0.1:${port}`, vkey, database, [witness, agent]);
  }

  /** Adds a log, as `witnessctl add-log` and `add-key` do. */
  addLog(origin: string, vkey: string): void {
    const database = new DatabaseSync(this.#database, { timeout: START_MS });
    database
      .prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)')
      .run(origin, EMPTY_ROOT.toString('base64'));
    database.prepare('INSERT INTO key (origin, key) VALUES (?, ?)').run(origin, vkey);
    database.close();
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const end = once(child, 'close');
      child.kill();
      await end;
    }
  }
}

/** Resolves with the verifier key once the witness listens. */
async function keyFromLog(witness: ChildProcess): Promise<string> {
  let log = '';
  for await (const chunk of witness.stderr ?? []) {
    log += chunk;
    const vkey = /vkey=(\S+)/.exec(log)?.[1];
    if (vkey !== undefined && log.includes('msg=listening')) {
      witness.stderr?.resume();
      return vkey;
    }
  }
  throw new Error(`the witness did not start:\n${log}`);
}
