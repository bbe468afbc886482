/**
 * A SQLite ledger with a log, filled without a server: the rows, turns and checkpoints that a server would write, for
 * tests of the commands on it.
 */
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/ledger/index.ts';
import { parseLogKeys, writeState } from '../../../src/log/index.ts';
import { deriveLogMacKeys, LogMacKeys, parseMasterSecret } from '../../../src/proof/index.ts';
import { QUOTAS } from '../../ledger/contract.ts';
import { commandJson, type RunResult, runCommand } from '../servers/run-command.ts';
import { type Environment, makeDataDir, removeDataDir } from '../servers/server.ts';
import { LogWriter, ORIGIN } from './log-writer.ts';

export class LogLedger extends LogWriter {
  readonly folder: string;
  readonly dataDir: string;
  readonly stateFile: string;

  private constructor(folder: string) {
    const dataDir = join(folder, 'data');
    const versions = parseMasterSecret(readFileSync(join(dataDir, 'master.key'), 'utf8'));
    const store = openSqliteStore({ path: join(dataDir, 'phm.db'), quotas: QUOTAS });
    super(store, new LogMacKeys(deriveLogMacKeys(versions)));
    this.folder = folder;
    this.dataDir = dataDir;
    this.stateFile = join(folder, 'state');
  }

  /** Creates a ledger with an open log and an account. */
  static async create(): Promise<LogLedger> {
    const folder = makeDataDir();
    const env = environmentOf(folder);
    const account = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'enterprise'];
    await commandJson(account, env);
    await commandJson(['log', 'init', '--origin', ORIGIN], env);
    const ledger = new LogLedger(folder);
    await ledger.addAccount();
    return ledger;
  }

  get env(): Environment {
    return environmentOf(this.folder);
  }

  run(...args: readonly string[]): Promise<RunResult> {
    return runCommand(args, this.env);
  }

  /** Runs one statement, as someone who writes to the database. */
  execute(sql: string, ...values: (string | number | Uint8Array)[]): void {
    const database = new DatabaseSync(join(this.dataDir, 'phm.db'));
    try {
      database.prepare(sql).run(...values);
    } finally {
      database.close();
    }
  }

  /** Takes one turn as the sequencer does, and publishes its head. */
  async publish(): Promise<void> {
    const keys = parseLogKeys(readFileSync(join(this.dataDir, 'log.key'), 'utf8'));
    writeState(this.stateFile, await this.publishWith(keys, Date.now()));
  }

  /** Copies the database and the state file to a backup. */
  backUp(): void {
    this.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    cpSync(join(this.dataDir, 'phm.db'), join(this.folder, 'backup.db'));
    cpSync(this.stateFile, join(this.folder, 'backup.state'));
  }

  /** Restores the state file of the backup, which a backup of a service does not have. */
  restoreState(): void {
    cpSync(join(this.folder, 'backup.state'), this.stateFile);
  }

  /** Returns a ledger on the backup of the database. The old one is closed. */
  async restore(): Promise<LogLedger> {
    await this.store.close();
    for (const end of ['', '-wal', '-shm']) {
      rmSync(join(this.dataDir, `phm.db${end}`), { force: true });
    }
    cpSync(join(this.folder, 'backup.db'), join(this.dataDir, 'phm.db'));
    return new LogLedger(this.folder);
  }

  async remove(): Promise<void> {
    await this.store.close();
    removeDataDir(this.folder);
  }
}

function environmentOf(folder: string): Environment {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  return {
    PHM_DATA_DIR: join(folder, 'data'),
    PHM_LOG_STATE_FILE: join(folder, 'state'),
    HOME: home,
  };
}
