/** `phm account`: the accounts whose quota requests are counted against. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { isPlanName, PLAN_NAMES, PLANS, type PlanName } from '../accounts/index.ts';
import { formatTimestamp } from '../clock.ts';
import { CommandError } from './command-error.ts';
import { type CliContext, withStore, writeJson, writeTable } from './context.ts';

const MAX_NAME = 200;

export function addAccountCommands(program: Command, context: CliContext): void {
  const account = program
    .command('account')
    .description('create and list accounts, set their plan');
  account
    .command('create')
    .description('create an account')
    .requiredOption('--name <name>', 'name of the account, for people')
    .requiredOption('--plan <plan>', `plan: ${PLAN_NAMES.join(', ')}`)
    .option('--json', 'write the result as JSON')
    .action((options) => create(context, options));
  account
    .command('list')
    .description('list all accounts')
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
  account
    .command('set-plan <account> <plan>')
    .description(`move an account to another plan: ${PLAN_NAMES.join(', ')}`)
    .option('--json', 'write the result as JSON')
    .action((accountId, plan, options) => setPlan(context, accountId, plan, options));
}

async function create(
  context: CliContext,
  options: { name: string; plan: string; json?: boolean },
): Promise<void> {
  const plan = requirePlan(options.plan);
  const name = options.name.trim();
  if (name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name)) {
    throw new CommandError(`--name takes 1 to ${MAX_NAME} printable characters`, 2);
  }
  const accountId = `acct_${randomUUID().replaceAll('-', '')}`;
  const createdMs = Date.now();
  await withStore(context, (store) =>
    store.addAccount({ accountId, name, plan, demo: false, createdMs }),
  );
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
      `Created "${name}" on the ${PLANS[plan].label} plan. Next: phm key issue --account ${accountId}\n`,
    );
  }
}

async function list(context: CliContext, options: { json?: boolean }): Promise<void> {
  const accounts = await withStore(context, (store) => store.listAccounts());
  if (options.json) {
    const rows = accounts.map(({ accountId, name, plan, demo, createdMs }) => ({
      account_id: accountId,
      name,
      plan,
      demo,
      created_at: formatTimestamp(createdMs),
    }));
    writeJson(context, { accounts: rows });
    return;
  }
  const rows = accounts.map(({ accountId, plan, createdMs, name }) => [
    accountId,
    plan,
    formatTimestamp(createdMs),
    name,
  ]);
  writeTable(context, ['ACCOUNT', 'PLAN', 'CREATED', 'NAME'], rows);
}

async function setPlan(
  context: CliContext,
  accountId: string,
  planText: string,
  options: { json?: boolean },
): Promise<void> {
  const plan = requirePlan(planText);
  const changed = await withStore(context, (store) => store.setPlan(accountId, plan));
  if (!changed)
    throw new CommandError(`there is no account ${accountId}; see 'phm account list'`, 1);
  if (options.json) writeJson(context, { account_id: accountId, plan });
  else context.err(`Account ${accountId} is on the ${PLANS[plan].label} plan now.\n`);
}

function requirePlan(text: string): PlanName {
  if (isPlanName(text)) return text;
  throw new CommandError(`there is no plan "${text}": use one of ${PLAN_NAMES.join(', ')}`, 2);
}
