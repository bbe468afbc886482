/**
 * Every command against text that others wrote: rows of the ledger, answers of a server, names and contents of files,
 * arguments. None of it may reach a terminal as a character that acts on it, or as a line of its own. A new command fails
 * the first test until it has a case here.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { Command } from 'commander';
import { addCommands } from '../../src/cli/commands.ts';
import { readCommands } from '../../src/cli/completion/words.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { StatusLine } from '../../src/cli/status-line.ts';
import { LogLedger } from '../support/log-ledger.ts';
import { type RunResult, runCommand, runCommandOn } from '../support/run-command.ts';
import type { Environment } from '../support/server.ts';

/** Clears the line, sets the title, turns the text, hides a part, and writes a line of its own. */
const HOSTILE =
  '\x1b[2K\x1b]0;title\x07\x9b31m\x7f\r\nFORGED LINE\n\u202e\u2066\u2028\u2029\u200b\u061c\u{e0041}\ud800';

/** What acts on a terminal or on a reader, but for the line ends of the command. */
const ACTS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function assertHarmless(name: string, { stdout, stderr }: RunResult): void {
  for (const line of `${stdout}\n${stderr}`.split('\n')) {
    assert.doesNotMatch(line, ACTS, `${name}: ${JSON.stringify(line)}`);
    assert.doesNotMatch(line, /^FORGED LINE/, `${name} wrote a line that it only quoted`);
  }
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
  validate: ({ folder }) => ['--file', join(folder, 'key')],
  'receipt verify': ({ folder }) => [join(folder, HOSTILE), '--policy', join(folder, HOSTILE)],
  'receipt get': ({ keyId }) => [keyId],
  'keys list': () => [],
  'keys show': ({ keyId }) => [keyId],
  'keys revoke': ({ keyId }) => [keyId, '--reason', 'superseded', '--confirm'],
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
  'api-key rotate': ({ apiKeyId }) => [apiKeyId],
  'api-key find': () => ['-'],
  'api-key revoke': ({ apiKeyId }) => [apiKeyId],
  'recipient new': ({ folder }) => ['--output', join(folder, HOSTILE, 'name')],
  'recipient show': ({ folder }) => [join(folder, HOSTILE)],
  'recipient add': ({ account, folder }) => [
    ...['--account', account, '--name', 'r'],
    join(folder, HOSTILE),
  ],
  'recipient list': ({ account }) => ['--account', account],
  'recipient remove': ({ account }) => ['--account', account, '--name', HOSTILE],
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
  'assess-ais31': ({ folder }) => [join(folder, HOSTILE), '--procedure', 'B'],
  'sources test': () => [HOSTILE],
  'sources raw': () => [HOSTILE, '--bytes', '1'],
  'sources restarts': () => [HOSTILE],
  stream: () => ['--bits', HOSTILE],
  testbench: () => ['--port', HOSTILE],
  selftest: ({ folder }) => ['--cavp', join(folder, HOSTILE)],
  doctor: () => [],
  export: ({ folder }) => ['--output', join(folder, HOSTILE, 'export')],
  import: ({ folder }) => [join(folder, HOSTILE)],
  completion: () => ['bash'],
  'help environment': () => [HOSTILE],
};

/** Returns the words of all commands that have no commands of their own. */
function allCommands(): string[] {
  const program = new Command('phm');
  addCommands(program, { env: {} } as CliContext, () => {});
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
  let service: { readonly address: string; readonly stop: () => void };
  before(async () => {
    ledger = await LogLedger.create();
    const [key] = await ledger.addKeys(3, Date.now(), { labels: '{"env":"prod"}' });
    const account = 'acct_log';
    const issued = await ledger.run('api-key', 'issue', '--account', account, '--json');
    const { api_key_id: apiKeyId } = JSON.parse(issued.stdout) as { api_key_id: string };
    const { folder } = ledger;
    await ledger.run('recipient', 'new', '--output', join(folder, 'r'));
    const recipient = join(folder, 'r.recipient');
    await ledger.run('recipient', 'add', '--account', account, '--name', 'r', recipient);
    await ledger.run('account', 'suspend', account, '--reason', 'rest');
    await ledger.publish();
    writeFileSync(join(folder, 'key'), `${'ab'.repeat(32)}\n`);
    place = { folder, keyId: key?.keyId ?? '', account, apiKeyId };
    service = await startService();
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
      PHM_URL: service.address,
    };
  }

  async function runAll(env: Environment, but?: string): Promise<void> {
    for (const [command, args] of Object.entries(CASES)) {
      if (command === but) continue;
      const words = [...command.split(' '), ...args(place)];
      assertHarmless(command, await runCommandOn('phm_1\n', words, env));
    }
  }

  it('has a case for every command', () => {
    assert.deepEqual(Object.keys(CASES).sort(), allCommands().sort());
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

  it('in arguments reaches no terminal', async () => {
    for (const command of [...allCommands(), '', 'account', 'log']) {
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
      const env = { PHM_URL: service.address, [name]: HOSTILE, [`PHM_${HOSTILE}`]: 'x' };
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

  it('in an answer of any status reaches no terminal', async () => {
    const { keyId, folder } = place;
    for (const status of [200, 400, 401, 404, 409, 422]) {
      const env = { PHM_URL: `${service.address}/${status}` };
      for (const args of [
        ['generate'],
        ['generate', '--json'],
        ['generate', '--recipient', 'r'],
        ['validate', '--file', join(folder, 'key')],
        ['receipt', 'get', keyId],
        ['keys', 'list'],
        ['keys', 'list', '--json'],
        ['keys', 'show', keyId],
        ['keys', 'revoke', keyId, '--reason', 'superseded', '--confirm'],
        ['keys', 'revoke', keyId, 'phm_1', '--reason', 'superseded', '--confirm'],
        ['keys', 'revoke', '--label', 'env=prod', '--reason', 'superseded', '--confirm'],
        ['metrics'],
        ['log', 'check', `${service.address}/${status}`],
      ]) {
        assertHarmless(`${args.join(' ')} on ${status}`, await runCommand(args, env));
      }
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

/** A service whose every text is hostile. The first part of the path is the status of its answers. */
async function startService() {
  const record = {
    key_id: HOSTILE,
    created_at: HOSTILE,
    security_level: 256,
    source: HOSTILE,
    modulation_type: HOSTILE,
    evidence: { verdict: HOSTILE, tests_passed: 15, total_tests: 15 },
    status: HOSTILE,
    labels: { [HOSTILE]: HOSTILE },
    expires_at: HOSTILE,
    revoked_at: HOSTILE,
    revocation_reason: HOSTILE,
    api_key_id: HOSTILE,
    sealed_to: HOSTILE,
    receipt_url: HOSTILE,
  };
  const answer = {
    success: true,
    ...record,
    key: 'ab'.repeat(32),
    security_strength_bits: 256,
    entropy_bits: 256,
    latency_ms: 1,
    quantum_hardware: false,
    timestamp: HOSTILE,
    hash_proof: HOSTILE,
    valid: false,
    validation_details: { [HOSTILE]: HOSTILE, format_check: HOSTILE },
    receipt: { statement: HOSTILE, proof: HOSTILE },
    keys: [record],
    next_cursor: null,
    metrics: {
      performance: {
        total_keys_generated: 1,
        average_latency_ms: 1,
        nist_compliance_rate: 1,
        error_rate: 0,
      },
      usage: { total_usage: 1, api_key_count: 1 },
    },
  };
  const server = createServer((request, response) => {
    const status = Number(/^\/(\d+)/.exec(request.url ?? '')?.[1] ?? 200);
    const problem = {
      ...{ success: false, type: HOSTILE, title: HOSTILE, status, detail: HOSTILE, code: HOSTILE },
      errors: [1, 2].map(() => ({ pointer: HOSTILE, message: HOSTILE })),
      request_id: HOSTILE,
    };
    const type = status === 200 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type });
    const isOne = /\/keys\/phm_\d+$/.test(request.url ?? '');
    const body = isOne ? { success: true, key: record } : answer;
    response.end(JSON.stringify(status === 200 ? body : problem));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
