/** `phm account`: manages accounts. Requests count against their quota. */

import { randomUUID } from 'node:crypto';
import { Argument, type Command, Option } from 'commander';
import { CommandError, writeJson, writeTable } from '#platform/commands';
import { formatTimestamp } from '../../clock.ts';
import { readPlanNames } from '../../config/index.ts';
import {
  type Account,
  type AccountState,
  accountState,
  SEALED_ONLY,
  type SealedOnly,
} from '../../ledger/index.ts';
import { commandLine } from '../../process/launcher.ts';
import type { CliContext } from '../context.ts';
import { addAccountStateCommands, stateJson } from './account-state.ts';
import { auditOf } from './audit-record.ts';
import { whyRefused } from './known-account.ts';
import { withInitializedStore, withStore, withStoreToMake, withStoreToRead } from './with-store.ts';

const MAX_NAME = 200;

export function addAccountCommands(program: Command, context: CliContext): void {
  const plans = readPlanNames(context.env);
  const planOption = new Option('--plan <plan>', 'plan of the account').makeOptionMandatory();
  const newPlan = new Argument('<plan>', 'new plan');
  if (plans) {
    planOption.choices(plans);
    newPlan.choices(plans);
  }
  const account = program
    .command('account')
    .description('create, list, suspend and delete accounts, and change their settings');
  account
    .command('create')
    .description('create an account')
    .requiredOption('--name <name>', 'name to display')
    .addOption(planOption)
    .option(
      '--init',
      'create the data directory, its master secret and its database if they are missing',
    )
    .option('--json', 'write the result as JSON')
    .action((options) => create(context, options));
  account
    .command('list')
    .description('list accounts, also deleted ones')
    .addOption(new Option('--state <state>', 'list only accounts in this state').choices(STATES))
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
  account
    .command('set-plan <account>')
    .addArgument(newPlan)
    .description('move an account to another plan')
    .option('--json', 'write the result as JSON')
    .action((accountId, plan, options) => setPlan(context, accountId, plan, options));
  account
    .command('set <account>')
    .description('change the settings of an account')
    .addOption(
      new Option(
        '--sealed-only <rule>',
        'on: refuse keys in plaintext to its callers; registered: also refuse public keys that are not registered',
      )
        .choices(SEALED_ONLY)
        .makeOptionMandatory(),
    )
    .option('--json', 'write the result as JSON')
    .action((accountId, options) => setSealedOnly(context, accountId, options));
  addAccountStateCommands(account, context);
}

const STATES: readonly AccountState[] = ['active', 'suspended', 'deleted'];

/** Keys that an account may generate, in the list of accounts. */
const KEYS: Readonly<Record<SealedOnly, string>> = {
  off: 'all',
  on: 'sealed only',
  registered: 'sealed to registered recipients',
};

const EFFECTS: Readonly<Record<SealedOnly, string>> = {
  off: 'may get keys in plaintext again. Running servers allow it within 2 seconds',
  on: 'now gets only sealed keys. Running servers refuse it keys in plaintext within 2 seconds',
  registered:
    'now gets only keys sealed to its registered recipients. Running servers refuse all others within 2 seconds',
};

async function create(
  context: CliContext,
  options: { name: string; plan: string; init?: boolean; json?: boolean },
): Promise<void> {
  const { plan } = options;
  const name = options.name.trim();
  if (name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name)) {
    throw new CommandError(`--name needs 1 to ${MAX_NAME} printable characters`, 2);
  }
  const accountId = `acct_${randomUUID().replaceAll('-', '')}`;
  const createdMs = Date.now();
  const withOneStore = options.init ? withInitializedStore : withStoreToMake;
  const label = await withOneStore(context, async (store, config) => {
    const audit = await auditOf(store, config, {
      atMs: createdMs,
      action: 'account_created',
      details: { account_id: accountId, name, plan },
    });
    await store.addAccount({ accountId, name, plan, demo: false, createdMs }, audit);
    return config.plans.get(plan)?.label;
  });
  if (options.json) {
    writeJson(context, {
      account_id: accountId,
      name,
      plan,
      created_at: formatTimestamp(createdMs),
    });
  } else {
    context.out(`${accountId}\n`);
    context.err(
      `Created "${name}" on the ${label} plan. Next:`,
      `  ${commandLine(context, `api-key issue --account ${accountId}`)}\n`,
    );
  }
}

async function list(
  context: CliContext,
  { state, json }: { state?: AccountState; json?: boolean },
): Promise<void> {
  const all = await withStoreToRead(context, (store) => store.listAccounts());
  const accounts = all.filter((one) => state === undefined || accountState(one) === state);
  if (json) {
    writeJson(context, { accounts: accounts.map(toJson) });
    return;
  }
  const rows = accounts.map((account) => [
    account.accountId,
    account.plan,
    accountState(account),
    // The database may hold another word.
    KEYS[account.sealedOnly] ?? account.sealedOnly,
    formatTimestamp(account.createdMs),
    account.name,
  ]);
  writeTable(context, ['ACCOUNT', 'PLAN', 'STATE', 'KEYS', 'CREATED', 'NAME'], rows);
}

function toJson(account: Account) {
  const { accountId, name, plan, demo, sealedOnly, createdMs } = account;
  return {
    account_id: accountId,
    name,
    plan,
    demo,
    sealed_only: sealedOnly,
    created_at: formatTimestamp(createdMs),
    ...stateJson(account),
  };
}

async function setPlan(
  context: CliContext,
  accountId: string,
  plan: string,
  options: { json?: boolean },
): Promise<void> {
  const label = await withStore(context, async (store, config) => {
    const audit = await auditOf(store, config, {
      atMs: Date.now(),
      action: 'plan_set',
      details: { account_id: accountId, plan },
    });
    if (!(await store.setPlan(accountId, plan, audit))) throw await whyRefused(store, accountId);
    return config.plans.get(plan)?.label;
  });
  if (options.json) writeJson(context, { account_id: accountId, plan });
  else context.err(`Account ${accountId} is now on the ${label} plan.\n`);
}

async function setSealedOnly(
  context: CliContext,
  accountId: string,
  { sealedOnly, json }: { sealedOnly: SealedOnly; json?: boolean },
): Promise<void> {
  await withStore(context, async (store, config) => {
    const audit = await auditOf(store, config, {
      atMs: Date.now(),
      action: 'sealed_only_set',
      details: { account_id: accountId, sealed_only: sealedOnly },
    });
    if (await store.setSealedOnly(accountId, sealedOnly, audit)) return;
    throw await whyRefused(store, accountId);
  });
  if (json) {
    writeJson(context, { account_id: accountId, sealed_only: sealedOnly });
    return;
  }
  context.err(`Account ${accountId} ${EFFECTS[sealedOnly]}.\n`);
}
