/** The keys of an account in the dashboard: list, search, filters, records, revocation, receipts. In a browser, 15 s. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Page, Request } from 'playwright-core';
import {
  enterApiKey,
  generateKey,
  NO_CHROMIUM,
  openAdvanced,
  requestIdOf,
  showView,
  untilTrue,
} from '../../support/browsers/browser.ts';
import { dashboardSite, traces } from '../../support/browsers/dashboard-site.ts';
import { DEMO_PROFESSIONAL_KEY } from '../../support/servers/server.ts';

/** Keys of a full page, and a few more. */
const MANY = 53;

/** Calls that the page makes before it asks the reader. */
const CALLS_AT_ONCE = 10;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const rows = (page: Page) => page.locator('table.keys tbody tr');
/** Waits until an element with this text has the focus. */
const focused = (page: Page, text: string | null) =>
  untilTrue(page, `document.activeElement.textContent.trim() === ${JSON.stringify(text)}`);
const hash = (page: Page) => page.evaluate<string>('location.hash');

/** Sends a request for keys as another program of the account would. */
async function post<Answer>(page: Page, path: string, body: object): Promise<Answer> {
  const answer = await fetch(new URL(`api/v2/${path}`, page.url()), {
    method: 'POST',
    headers: { 'X-API-Key': DEMO_PROFESSIONAL_KEY, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as Answer;
}

async function generate(page: Page, fields: object): Promise<{ key: string; key_id: string }> {
  return post(page, 'generate', {
    security_level: 128,
    enable_nist_validation: false,
    ...fields,
  });
}

/** Opens a view by its address. */
async function openHash(page: Page, to: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(to)}`);
}

/** Waits until the list has the rows of its address. */
async function listed(page: Page, status: string | RegExp): Promise<void> {
  await page.getByRole('status').getByText(status).waitFor();
}

describe('keys in the dashboard', { skip: NO_CHROMIUM }, () => {
  const site = dashboardSite();

  async function open(to = '#/keys'): Promise<Page> {
    const page = await site();
    await openHash(page, to);
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    return page;
  }

  it('are listed newest first, and the way back leads to the same page and row', async () => {
    const page = await open();
    await page.getByText('This account has no keys yet.').waitFor();
    await post(page, 'generate/batch', { security_level: 128, count: MANY });
    const { key_id: newest } = await generate(page, {});
    await button(page, 'Refresh').click();
    await listed(page, `50 of more than 50 keys; ${MANY + 1} generated in the last year`);
    assert.equal(await rows(page).first().getByRole('link').textContent(), newest);
    await page.getByRole('link', { name: 'Older keys' }).click();
    await page.getByRole('heading', { name: 'Older keys', level: 2 }).waitFor();
    await listed(page, '4 keys on this page');
    await focused(page, 'Older keys');
    const address = await hash(page);
    const link = rows(page).nth(2).getByRole('link');
    const id = await link.textContent();
    await link.click();
    await page.getByRole('heading', { name: 'Active' }).waitFor();
    await focused(page, 'Record of a key');
    assert.equal(await hash(page), `#/keys/${id}`);
    await page.goBack();
    assert.equal(await hash(page), address);
    await focused(page, id);
    assert.equal(await rows(page).count(), 4);
    await page.keyboard.press('Enter');
    await focused(page, 'Record of a key');
    await page.keyboard.press('Escape');
    await focused(page, id);
    assert.equal(await hash(page), address);
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await listed(page, /^50 of more than 50 keys/);

    // A link that someone shares works after the API key is entered.
    await page.reload();
    await openHash(page, address);
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await listed(page, '4 keys on this page');
    await page.getByRole('link', { name: 'Newest keys' }).click();
    await listed(page, /^50 of more than 50 keys/);
  });

  it('take a line each, whatever they are called, and columns drop out on a narrower page', async () => {
    const page = await open();
    const long = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'long '.repeat(12)]));
    await generate(page, { labels: long, expires_at: '2999-01-31T12:00:00Z' });
    await generate(page, {});
    await button(page, 'Refresh').click();
    await rows(page).nth(1).waitFor();
    const heights = () =>
      page.evaluate<number[]>(
        "[...document.querySelectorAll('table.keys tbody tr')].map((row) => row.offsetHeight)",
      );
    const isShown = (column: string) =>
      page.getByRole('columnheader', { name: column }).isVisible();
    for (const [width, shown] of [
      [1440, [true, true, true]],
      [1024, [true, true, false]],
      [390, [false, false, false]],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await untilTrue(page, `innerWidth === ${width}`);
      assert.ok(
        (await heights()).every((height) => height >= 36 && height <= 37),
        `${width}: ${await heights()}`,
      );
      const columns = await Promise.all(['Labels', 'Expires', 'Bits'].map(isShown));
      assert.deepEqual(columns, shown, `${width} pixels wide`);
    }
  });

  it('are revoked together, after one question, and what failed stays selected', async () => {
    const page = await open();
    const many: string[] = [];
    for (let i = 0; i < 3; i++) {
      many.push((await generate(page, { labels: { many: 'yes' } })).key_id);
    }
    await post(page, `keys/${many[0]}/revoke`, { reason: 'superseded' });
    await openHash(page, '#/keys?label=many:yes');
    await listed(page, '3 keys');
    const box = (id: string | undefined) => page.getByRole('checkbox', { name: `Select ${id}` });
    assert.ok(await box(many[0]).isDisabled(), 'a revoked key can be selected');
    const revoke = button(page, 'Revoke selected…');
    await revoke.press('Enter');
    assert.equal(await page.getByRole('dialog').count(), 0, 'a question about no key');
    await page.getByRole('checkbox', { name: 'Select all keys of this page' }).check();
    await listed(page, '2 keys selected.');
    const asked: string[] = [];
    page.on('request', (request: Request) => {
      if (request.url().endsWith('/revoke')) asked.push(request.postData() ?? '');
    });
    await revoke.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Revoke these 2 keys?' });
    await dialog.getByText(many[2] ?? '').waitFor();
    await focused(page, 'Cancel');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await focused(page, 'Revoke selected…');
    assert.deepEqual(asked, []);

    await page.keyboard.press('Enter');
    await dialog.getByRole('radio', { name: 'Cessation of use' }).check();
    await dialog.getByText('The 2 keys become deactivated.').waitFor();
    await page.route(`**/${many[1]}/revoke`, (route) => route.abort(), { times: 1 });
    await dialog.getByRole('button', { name: 'Revoke 2 keys' }).click();
    await page.getByRole('alert').getByText('a repeated revocation changes nothing').waitFor();
    await listed(page, '1 key revoked. 1 key selected.');
    await rows(page)
      .filter({ hasText: many[2] ?? '' })
      .getByText('deactivated')
      .waitFor();
    assert.ok(await box(many[1]).isChecked());
    await button(page, 'Try again').click();
    await rows(page)
      .filter({ hasText: many[1] ?? '' })
      .getByText('deactivated')
      .waitFor();
    assert.deepEqual(new Set(asked), new Set(['{"reason":"cessation_of_use"}']));
    assert.equal(asked.length, 3);
    const record = await fetch(new URL(`api/v2/keys/${many[1]}`, page.url()), {
      headers: { 'X-API-Key': DEMO_PROFESSIONAL_KEY },
    });
    const { key } = (await record.json()) as { key: { revocation_reason: string } };
    assert.equal(key.revocation_reason, 'cessation_of_use');
  });

  it('are chosen by chips: active, expiring, revoked', async () => {
    const page = await open();
    const labels = { chip: 'x' };
    const soon = new Date(Date.now() + 86_400_000).toISOString();
    const ids = {
      active: (await generate(page, { labels })).key_id,
      expiring: (await generate(page, { labels, expires_at: soon })).key_id,
      late: (await generate(page, { labels, expires_at: '2999-01-31T12:00:00Z' })).key_id,
      superseded: (await generate(page, { labels })).key_id,
      compromised: (await generate(page, { labels })).key_id,
    };
    await post(page, `keys/${ids.superseded}/revoke`, { reason: 'superseded' });
    await post(page, `keys/${ids.compromised}/revoke`, { reason: 'key_compromise' });
    await openHash(page, '#/keys?label=chip:x');
    await listed(page, '5 keys');
    const found = () => rows(page).getByRole('link').allTextContents();
    const chip = (name: string) => page.getByRole('button', { name, exact: true });
    for (const [name, status, expected] of [
      ['Expiring', '1 key', [ids.expiring]],
      ['Revoked', '2 keys', [ids.compromised, ids.superseded]],
      ['Active', '3 keys', [ids.late, ids.expiring, ids.active]],
    ] as const) {
      await chip(name).click();
      await listed(page, status);
      assert.equal(await chip(name).getAttribute('aria-pressed'), 'true');
      assert.deepEqual(await found(), expected, name);
    }
    await chip('Active').click();
    await listed(page, '5 keys');
    await button(page, 'Remove chip:x').click();
    assert.equal(await hash(page), '#/keys');
  });

  it('are found by ID, and a secret in the field of the search goes nowhere', async () => {
    const page = await open();
    const { key, key_id: id } = await generate(page, {});
    const sent: string[] = [];
    page.on('request', (request: Request) =>
      sent.push(`${request.url()} ${request.postData() ?? ''}`),
    );
    const field = page.getByRole('textbox', { name: 'Search by key ID or label' });
    const apiKeyField = page.getByRole('textbox', { name: 'ID of the API key' });
    for (const [secret, words] of [
      [key, 'This looks like a key'],
      [`env:${key}`, 'This looks like a key'],
      [DEMO_PROFESSIONAL_KEY, 'This looks like an API key'],
    ] as const) {
      await field.fill(secret);
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText(words).waitFor();
      assert.equal((await traces(page)).includes(secret), false, 'the secret is in the page');
    }
    await page.getByText('More filters').click();
    await apiKeyField.fill(DEMO_PROFESSIONAL_KEY);
    await button(page, 'Apply filters').click();
    await page.getByRole('alert').getByText('not the API key').waitFor();
    assert.equal(await hash(page), '#/keys');
    assert.deepEqual(sent, []);
    await apiKeyField.fill('');

    await field.fill(id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Active' }).waitFor();
    await openHash(page, '#/keys/phm_1');
    await page.getByRole('alert').getByText('It may be a key of another account').waitFor();
    await openHash(page, `#/keys/${key.slice(0, 8)}`);
    await page.getByText('The address has no key ID.').waitFor();
  });

  it('are filtered by status, time, length, source, tests, label and API key', async () => {
    const page = await open();
    const labels = { env: 'prod', owner: 'team a' };
    const { key_id: id } = await generate(page, { security_level: 384, labels });
    await generate(page, { security_level: 256, labels });
    const field = page.getByRole('textbox', { name: 'Search by key ID or label' });
    await field.fill('Env:prod');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('“Env” is no name of a label').waitFor();
    await field.fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('such as env:prod').waitFor();
    for (const label of ['env:prod', 'owner:team a']) {
      await field.fill(label);
      await page.keyboard.press('Enter');
      await button(page, `Remove ${label}`).waitFor();
    }
    await page.getByText('More filters').click();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('active');
    await page.getByLabel('Generated from').fill('2020-01-01T00:00');
    await page.getByLabel('Generated before').fill('2999-01-01T00:00');
    await page.getByRole('combobox', { name: 'Length' }).selectOption('384');
    await page.getByRole('combobox', { name: 'Entropy source' }).selectOption('os');
    await page.getByRole('combobox', { name: 'Tests' }).selectOption('none');
    await page.getByRole('textbox', { name: 'ID of the API key' }).fill('key_demo_professional');
    const asked = page.waitForRequest((request) => request.url().includes('/api/v2/keys?'));
    await button(page, 'Apply filters').click();
    const query = new URL((await asked).url()).searchParams;
    assert.deepEqual(
      [...query.keys()].sort(),
      'api_key_id created_after created_before evidence label label limit security_level source status'.split(
        ' ',
      ),
    );
    await listed(page, '1 key');
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByText('No older keys meet these filters.').waitFor();
    const address = await hash(page);
    await button(page, 'Clear filters').click();
    assert.equal(await hash(page), '#/keys');
    await page.goBack();
    await listed(page, '1 key');
    assert.equal(await hash(page), address);
    await button(page, 'Remove owner:team a').waitFor();

    await page.getByRole('link', { name: id }).click();
    await page.getByRole('link', { name: 'owner: team a' }).click();
    await listed(page, '2 keys');
  });

  it('with a rare label are found by searching on', async () => {
    const page = await open();
    const { key_id: id } = await generate(page, { labels: { rare: 'yes' } });
    const cursorTo = (call: number) => {
      const cursor = Buffer.alloc(16, call);
      cursor.writeUIntBE(Date.UTC(2026, 0, 2, 12), 0, 6);
      return cursor.toString('base64url');
    };
    const timestamp = new Date().toISOString();
    const empty = (next_cursor: string) => ({ success: true, keys: [], next_cursor, timestamp });
    const asked: string[] = [];
    await page.route('**/api/v2/keys?*', async (route) => {
      asked.push(route.request().url());
      if (asked.length <= CALLS_AT_ONCE) {
        const json = empty(cursorTo(asked.length));
        await route.fulfill({ headers: requestIdOf(route), json });
      } else
        await route.continue({
          url: route
            .request()
            .url()
            .replace(/&?cursor=[^&]*/, ''),
        });
    });
    await openHash(page, '#/keys?label=rare:yes');
    await listed(page, /^0 keys, searched back to 2 Jan 2026/);
    assert.equal(asked.length, CALLS_AT_ONCE);
    await button(page, 'Search further back').press('Enter');
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByText('No older keys meet these filters.').waitFor();
    assert.ok(asked.at(-1)?.includes(`cursor=${cursorTo(CALLS_AT_ONCE)}`), asked.at(-1));
    await focused(page, 'Keys found');
  });

  it('are revoked after a question that says what it does', async () => {
    const page = await open();
    const { key, key_id: id } = await generate(page, {});
    const asked: string[] = [];
    page.on('request', (request: Request) => {
      if (request.url().endsWith('/revoke')) asked.push(request.postData() ?? '');
    });
    await openHash(page, `#/keys/${id}`);
    const dialog = page.getByRole('dialog', { name: 'Revoke this key?' });
    await button(page, 'Revoke…').press('Enter');
    await dialog.getByText('You cannot undo it.').waitFor();
    await focused(page, 'Cancel');
    assert.ok(await dialog.getByRole('button', { name: 'Revoke the key' }).isDisabled());
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await focused(page, 'Revoke…');
    assert.deepEqual(asked, []);

    await page.keyboard.press('Enter');
    await dialog.getByRole('radio', { name: 'Superseded' }).check();
    await dialog.getByRole('status').getByText('The key becomes deactivated.').waitFor();
    await page.route('**/revoke', (route) => route.abort(), { times: 1 });
    await dialog.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('alert').getByText('a repeated revocation changes nothing').waitFor();
    await button(page, 'Try again').click();
    await page.getByRole('heading', { name: 'Deactivated' }).waitFor();
    await page.getByText('Reason: superseded.').first().waitFor();

    await button(page, 'Report as compromised…').click();
    const report = page.getByRole('dialog', { name: 'Report this key as compromised?' });
    await report.getByText('The key becomes compromised, which is final.').waitFor();
    await report.getByRole('button', { name: 'Report it' }).click();
    await page.getByRole('heading', { name: 'Compromised' }).waitFor();
    await focused(page, '! Compromised');
    const record = page.getByRole('region', { name: 'Record of a key' });
    assert.equal(await record.getByRole('button', { name: /^(Revoke|Report)/ }).count(), 0);
    assert.deepEqual(asked.at(-1), '{"reason":"key_compromise"}');

    await page.getByRole('link', { name: 'Close' }).click();
    await button(page, 'Refresh').click();
    await rows(page).filter({ hasText: id }).getByText('compromised').waitFor();
    await showView(page, 'Validate');
    await page.getByRole('textbox', { name: 'Key' }).fill(key);
    await button(page, 'Validate').click();
    await page.getByText('The service generated this key, but the key is compromised.').waitFor();
    await page.getByRole('status').getByText('Not valid: the key is compromised.').waitFor();
  });

  it('lead from generation to their record and receipt', async () => {
    const page = await open('#/generate');
    await openAdvanced(page);
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).check();
    await button(page, 'Add a label').click();
    await page.keyboard.type('env');
    await page.getByRole('combobox', { name: 'Expires' }).selectOption('at');
    await page.getByLabel('Expires at').fill('2020-01-31T12:00');
    await button(page, 'Generate').click();
    await page.getByRole('alert').getByText('Enter a time in the future.').waitFor();
    await page.getByLabel('Expires at').fill('2999-01-31T12:00');
    await page.getByRole('textbox', { name: 'Value of label 1' }).fill('prod');
    const { key, key_id: id } = await generateKey(page);
    await page.getByRole('link', { name: 'Its record' }).click();
    await page.getByText('Expires 31 Jan 2999, 12:00.').first().waitFor();
    await page.getByRole('link', { name: 'env: prod' }).waitFor();
    await page.getByText('tests passed; gate passed').waitFor();
    assert.equal((await traces(page)).includes(key), false, 'the key is in the record');

    const retry = button(page, /^Try again/);
    await button(page, 'Get the receipt').click();
    // On a busy machine the receipt may come later.
    const verify = button(page, 'Verify');
    while ((await verify.count()) === 0) {
      if ((await retry.count()) > 0) await retry.click();
      await verify.or(retry).first().waitFor();
    }
    await verify.click();
    await page.getByRole('heading', { name: 'Valid, by this server’s own policy' }).waitFor();
    await page.getByText(`generated the 256-bit key ${id} at`).waitFor();
    await page.getByText('The receipt, word for word').click();
    await page.getByRole('region', { name: 'The receipt' }).getByText('key_commitment').waitFor();
    const download = page.waitForEvent('download');
    await button(page, 'Download').click();
    const file = await download;
    assert.equal(file.suggestedFilename(), `${id}-receipt.json`);
    const { receipt } = JSON.parse(readFileSync(await file.path(), 'utf8'));
    assert.equal(receipt.statement.key_id, id);
    // The key on Generate still has no copy.
    await page.getByRole('link', { name: 'Key not copied yet' }).click();
    await button(page, 'Copy').first().click();
  });
});
