/**
 * Every command against text that others wrote: rows of the ledger, answers of a server, names and contents of files,
 * arguments. None of it may reach a terminal as a character that acts on it, or as a line of its own. A new command fails
 * the first test until it has a case here.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { Command } from 'commander';
import { StatusLine } from '../../packages/platform/src/commands/status-line.ts';
import { addCommands } from '../../src/cli/commands.ts';
import { readCommands } from '../../src/cli/completion/words.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { LogLedger } from '../support/ledgers/log-ledger.ts';
import { type RunResult, runCommand, runCommandOn } from '../support/servers/run-command.ts';
import type { Environment } from '../support/servers/server.ts';
import {
  DELIVERY_ID,
  HOSTILE,
  type HostileService,
  startHostileService,
} from './hostile-service.ts';

/** What acts on a terminal or on a reader, but for the line ends of the command. */
const ACTS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function assertHarmless(
  name: string,
  { stdout, stderr }: Pick<RunResult, 'stdout' | 'stderr'>,
): void {
  for (const line of `${stdout}\n${stderr}`.split('\n')) {
    assert.doesNotMatch(line, ACTS, `${name}: ${JSON.stringify(line)}`);
    assert.doesNotMatch(line, /^FORGED LINE/, `${name} wrote a line that it only quoted`);
  }
}

/** Returns all texts and names in a JSON value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsOf(part)]);
}

/** What the commands of a ledger or a service are given beside the text itself. */
interface Place {
  readonly folder: string;
  readonly keyId: string;
  readonly account: string;
  readonly apiKeyId: string;
}

type Case = (place: Place) => readonly string[];

/** Cases that need nothing but the arguments. Those of a client command go to a hostile server. */
const CASES: Readonly<Record<string, Case>> = {
  generate: () => [],
  open: ({ folder }) => [join(folder, HOSTILE), '--recipient-key', join(folder, 'r.recipient-key')],
  encrypt: ({ folder }) => [join(folder, HOSTILE), '--to', join(folder, 'r.recipient')],
  decrypt: ({ folder }) => [
    ...['--recipient-key', join(folder, 'r.recipient-key')],
    join(folder, HOSTILE),
    ...['--output', join(folder, `${HOSTILE}.decrypted`)],
  ],
  reseal: ({ folder }) => [
    ...['--recipient-key', join(folder, 'r.recipient-key')],
    ...['--to', join(folder, 'r.recipient')],
    join(folder, HOSTILE),
  ],
  validate: ({ folder }) => ['--file', join(folder, 'key')],
  'receipt verify': ({ folder }) => [join(folder, HOSTILE), '--policy', join(folder, HOSTILE)],
  'receipt get': ({ keyId }) => [keyId],
  'keys list': () => [],
  'keys show': ({ keyId }) => [keyId],
  'keys revoke': ({ keyId }) => [keyId, '--reason', 'superseded', '--confirm'],
  'deliveries list': () => ['--recipient', HOSTILE],
  'deliveries fetch': () => [DELIVERY_ID, '--recipient', HOSTILE],
  'deliveries remove': () => [DELIVERY_ID, '--recipient', HOSTILE],
  'deliveries show': () => [DELIVERY_ID],
  metrics: () => [],
  'account create': () => ['--name', 'A', '--plan', 'research'],
  'account list': () => [],
  'account set-plan': ({ account }) => [account, 'research'],
  'account set': ({ account }) => [account, '--sealed-only', 'on'],
  'account show': ({ account }) => [account],
  'account suspend': ({ account }) => [account, '--reason', HOSTILE],
  'account resume': ({ account }) => [account],
  'account delete': ({ account }) => [account, '--confirm', HOSTILE],
  'api-key issue': ({ account }) => ['--account', account],
  'api-key list': () => [],
  'api-key rotate': ({ apiKeyId }) => [apiKeyId, '--overlap', '1h'],
  'api-key find': () => ['-'],
  'api-key revoke': ({ apiKeyId }) => [apiKeyId],
  'recipient new': ({ folder }) => ['--output', join(folder, HOSTILE, 'name')],
  'recipient show': ({ folder }) => [join(folder, HOSTILE)],
  'recipient add': ({ account, folder }) => [
    ...['r', '--account', account, '--public-key'],
    join(folder, HOSTILE),
  ],
  'recipient list': ({ account }) => ['--account', account],
  'recipient remove': ({ account }) => ['r', '--account', account],
  'secret new': () => [],
  'secret rotate': () => [],
  'secret list': () => [],
  'secret retire': () => ['1'],
  'secret reinstate': () => ['1'],
  migrate: () => [],
  'ledger prune': () => ['--older-than', '1', '--dry-run'],
  'ledger find': ({ keyId }) => [keyId],
  'ledger backup': ({ folder }) => [join(folder, `${HOSTILE}.backup`)],
  'ledger restore': ({ folder }) => [join(folder, HOSTILE)],
  'ledger verify': () => [],
  'log init': () => [],
  'log show': () => [],
  'log check': () => [],
  'log copy': ({ folder }) => [join(folder, `${HOSTILE}.copy`)],
  'log recover': ({ folder }) => ['--from', join(folder, HOSTILE)],
  'audit list': () => [],
  'audit export': () => [],
  'audit verify': () => [],
  assess: ({ folder }) => [join(folder, HOSTILE), '--bits', '128'],
  'assess-entropy': ({ folder }) => [join(folder, HOSTILE)],
  'assess-conditioning': () => ['--n-in', HOSTILE],
  'assess-ais31': ({ folder }) => [join(folder, HOSTILE)],
  'sources test': () => [HOSTILE],
  'sources raw': () => [HOSTILE, '--bytes', '1'],
  'sources restarts': () => [HOSTILE],
  stream: () => ['--bits', HOSTILE],
  testbench: () => ['--port', HOSTILE],
  selftest: ({ folder }) => ['--cavp', join(folder, HOSTILE)],
  doctor: () => [],
  export: () => [],
  import: ({ folder }) => [join(folder, HOSTILE)],
  completion: () => ['bash'],
  'help environment': () => [],
};

/** Returns the words of all commands that have no commands of their own. */
async function allCommands(): Promise<string[]> {
  const program = new Command('phm');
  await addCommands(program, { env: {} } as CliContext, () => {});
  return readCommands(program)
    .filter(({ subcommands }) => subcommands.length === 0)
    .map(({ path }) => path.join(' '));
}

/** Appends the text to each column of these tables that holds text, as someone who writes to the database file can. */
function poison(path: string, isChosen: (table: string, column: string) => boolean): void {
  const database = new DatabaseSync(path);
  const names = (sql: string) => database.prepare(sql).all() as { name: string; type: string }[];
  database.exec('PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF');
  for (const { name } of names("SELECT name FROM sqlite_schema WHERE type = 'trigger'")) {
    database.exec(`DROP TRIGGER ${name}`);
  }
  for (const { name: table } of names("SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    for (const { name, type } of names(`PRAGMA table_info(${table})`)) {
      if (type !== 'TEXT' || !isChosen(table, name)) continue;
      database.prepare(`UPDATE OR IGNORE ${table} SET ${name} = ${name} || ?`).run(HOSTILE);
    }
  }
  database.close();
}

describe('text of others', () => {
  let ledger: LogLedger;
  let place: Place;
  let service: HostileService;
  before(async () => {
    ledger = await LogLedger.create();
    const [key] = await ledger.addKeys(3, Date.now(), { labels: '{"env":"prod"}' });
    const account = 'acct_log';
    const { folder } = ledger;
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await ledger.run(...args);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const issued = await run('api-key', 'issue', '--account', account, '--json');
    const { api_key_id: apiKeyId } = JSON.parse(issued) as { api_key_id: string };
    await run('recipient', 'new', '--output', join(folder, 'r'));
    const recipient = join(folder, 'r.recipient');
    await run('recipient', 'add', 'r', '--account', account, '--public-key', recipient);
    await run('account', 'suspend', account, '--reason', 'rest');
    await ledger.publish();
    writeFileSync(join(folder, 'key'), `${'ab'.repeat(32)}\n`);
    place = { folder, keyId: key?.keyId ?? '', account, apiKeyId };
    service = await startHostileService(readFileSync(recipient, 'utf8'));
  });
  after(async () => {
    service.stop();
    await ledger.remove();
  });

  /** Returns the environment of a copy of the ledger with hostile columns. */
  function poisoned(isChosen: (table: string, column: string) => boolean): Environment {
    const copy = join(ledger.folder, 'poisoned');
    rmSync(copy, { recursive: true, force: true });
    cpSync(ledger.dataDir, copy, { recursive: true });
    poison(join(copy, 'phm.db'), isChosen);
    return {
      ...ledger.env,
      PHM_DATA_DIR: copy,
      PHM_URL: service.odd,
    };
  }

  async function runAll(env: Environment, but?: string): Promise<void> {
    for (const [command, args] of Object.entries(CASES)) {
      if (command === but) continue;
      const words = [...command.split(' '), ...args(place)];
      const result = await runCommandOn('phm_1\n', words, env);
      assertHarmless(command, result);
      assert.doesNotMatch(result.stderr, /^error: (?!option .* argument)/m, 'the case is outdated');
    }
  }

  it('has a case for every command', async () => {
    assert.deepEqual(Object.keys(CASES).sort(), (await allCommands()).sort());
  });

  it('in every column of the ledger reaches no terminal', async () => {
    await runAll(poisoned(() => true));
  });

  it('in every column but identifiers reaches no terminal', async () => {
    await runAll(
      poisoned((_, column) => !/_id$|^origin$|^state$|^plan$|^kind$/.test(column)),
      'doctor',
    );
  });

  it('hides no finding of a check', async () => {
    const env = poisoned((table, column) => table === 'audit' && column === 'action');
    for (const command of [
      ['log', 'check'],
      ['audit', 'verify'],
      ['ledger', 'verify'],
    ]) {
      assertHarmless(command.join(' '), await runCommand(command, env));
    }
    const { code, stderr } = await runCommand(['log', 'check'], env);
    assert.match(stderr, /\\u001b\[2K.*FORGED LINE/);
    assert.equal(code, 1, stderr);
    assert.doesNotMatch(stderr, /^No problems found/m);
  });

  it('in the details of audit records reaches no terminal', async () => {
    const env = poisoned(() => false);
    const database = new DatabaseSync(join(env.PHM_DATA_DIR ?? '', 'phm.db'));
    database.prepare('UPDATE audit SET details = ?').run(JSON.stringify({ [HOSTILE]: HOSTILE }));
    database.close();
    for (const args of [['list'], ['list', '--json'], ['export']]) {
      const result = await runCommand(['audit', ...args], env);
      assertHarmless(`audit ${args.join(' ')}`, result);
      assert.equal(result.code, 0, result.stderr);
      assert.match(result.stdout, /FORGED LINE/);
    }
  });

  it('in arguments reaches no terminal', async () => {
    for (const command of [...(await allCommands()), '', 'account', 'log']) {
      const words = command.split(' ').filter((word) => word !== '');
      for (const args of [[HOSTILE], [`--no${HOSTILE}`], [`--json=${HOSTILE}`]]) {
        assertHarmless(
          command,
          await runCommand([...words, ...args], { PHM_DATA_DIR: '/nowhere' }),
        );
      }
    }
  });

  it('in variables reaches no terminal', async () => {
    for (const name of ['PHM_PORT', 'PHM_HOST', 'PHM_DATA_DIR', 'PHM_PLANS_FILE', 'PHM_URL']) {
      const env = { PHM_URL: service.odd, [name]: HOSTILE, [`PHM_${HOSTILE}`]: 'x' };
      for (const command of [
        ['account', 'list'],
        ['keys', 'list'],
      ]) {
        assertHarmless(`${command} with ${name}`, await runCommand(command, env));
      }
    }
  });

  it('in files reaches no terminal', async () => {
    const folder = join(ledger.folder, 'files');
    mkdirSync(folder);
    const put = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const text = put('text', HOSTILE);
    const json = put('json', JSON.stringify({ receipt: HOSTILE, key_id: HOSTILE, [HOSTILE]: 1 }));
    const recipient = put('recipient', JSON.stringify({ type: HOSTILE, suite: HOSTILE }));
    put('checkpoint', `${HOSTILE}\n5\nAAAA\n\n— ${HOSTILE} AAAA\n`);
    put('policy', `log ${HOSTILE}\n`);
    for (const args of [
      ['receipt', 'verify', text, '--policy', text],
      ['receipt', 'verify', json, '--key-file', join(place.folder, 'key')],
      ['receipt', 'verify', text, '--opening', `@${json}`, '--key-file', json],
      ['open', json, '--recipient-key', join(place.folder, 'r.recipient-key')],
      ['open', json, '--recipient-key', recipient],
      ['recipient', 'show', recipient],
      ['validate', '--file', text],
      ['log', 'check', folder],
      ['log', 'check', folder, '--policy', text],
      ['selftest', '--cavp', text],
      ['assess', text, '--bits', '128'],
      ['import', text],
      ['ledger', 'restore', text],
    ]) {
      assertHarmless(args.join(' '), await runCommand(args, ledger.env));
    }
  });

  /** Client commands for a service at this address. */
  const clientCommands = (address: string): readonly (readonly string[])[] => [
    ['generate'],
    ['generate', '--json'],
    ['generate', '--seal-to', join(place.folder, 'r.recipient')],
    ['generate', '--recipient', 'r', '--json'],
    ['validate', '--file', join(place.folder, 'key')],
    ['validate', '--file', join(place.folder, 'key'), '--json'],
    ['receipt', 'get', place.keyId],
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['keys', 'show', place.keyId],
    ['keys', 'revoke', place.keyId, '--reason', 'superseded', '--confirm'],
    ['keys', 'revoke', place.keyId, 'phm_1', '--reason', 'superseded', '--confirm'],
    ['keys', 'revoke', '--label', 'env=prod', '--reason', 'superseded', '--confirm'],
    ['deliveries', 'list', '--recipient', 'r'],
    ['deliveries', 'remove', DELIVERY_ID, '--recipient', 'r'],
    ['deliveries', 'remove', DELIVERY_ID, '--recipient', 'r', '--json'],
    ['deliveries', 'show', DELIVERY_ID],
    ['deliveries', 'show', DELIVERY_ID, '--json'],
    ['metrics'],
    ['metrics', '--json'],
    ['log', 'check', address],
  ];

  it('in an answer that a command refuses reaches no terminal', async () => {
    for (const address of [service.odd, ...[400, 401, 404, 409, 422].map(service.failing)]) {
      for (const args of clientCommands(address)) {
        const result = await runCommand(args, { PHM_URL: address });
        assertHarmless(`${args.join(' ')} on ${address}`, result);
        assert.notEqual(result.code, 0, `${args.join(' ')} on ${address}`);
      }
    }
  });

  it('in an answer that a command takes reaches no terminal, and JSON keeps it', async () => {
    const env = { PHM_URL: service.fitting };
    for (const args of clientCommands('').slice(0, -1)) {
      const result = await runCommand(args, env);
      assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
      assertHarmless(args.join(' '), result);
      if (!args.includes('--json')) continue;
      const texts = result.stdout
        .trimEnd()
        .split('\n')
        .flatMap((line) => textsOf(JSON.parse(line)));
      assert.ok(texts.includes(HOSTILE), args.join(' '));
    }
  });

  it('in an answer that goes to a file is escaped there', async () => {
    const made = join(place.folder, 'made');
    const [one, receipt, many] = [join(made, 'one'), join(made, 'receipt'), join(made, 'many')];
    mkdirSync(made);
    for (const args of [
      ['generate', '--json', '--validate', '--output', one],
      ['receipt', 'get', place.keyId, '--output', receipt],
      ['generate', '--count', '2', '--output-dir', many, '--json'],
    ]) {
      const result = await runCommand(args, { PHM_URL: service.fitting });
      assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
      assertHarmless(args.join(' '), result);
    }
    const keys = readdirSync(many).filter((name) => name.startsWith('phm_'));
    assert.equal(keys.length, 2);
    for (const file of [one, receipt, ...keys.map((name) => join(many, name))]) {
      const content = readFileSync(file, 'utf8');
      assertHarmless(file, { stdout: content, stderr: '' });
      assert.match(content, /FORGED LINE/);
    }
  });

  it('in the progress line is escaped, and its own control is not', () => {
    const written: string[] = [];
    const line = new StatusLine((text) => written.push(text));
    line.show(`rows of ${HOSTILE}`);
    line.clear();
    assert.ok(written[0]?.startsWith('\r\x1b[K'));
    assert.doesNotMatch((written[0] ?? '').slice(4), ACTS);
    assert.deepEqual(written.slice(1), ['\r\x1b[K']);
  });
});
