/** Receipts in the dashboard: the page verifies them, and nothing of them leaves it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import { issue, ORIGIN, POLICY } from '../../sdk/receipts.ts';
import {
  enterApiKey,
  generateBy,
  generateKey,
  launchBrowser,
  NO_CHROMIUM,
  openAdvanced,
  openPage,
  requestIdOf,
  showView,
  untilTrue,
  type WatchedPage,
  WITHOUT_ML_DSA,
} from '../../support/browsers/browser.ts';
import {
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

const BASE = '/keys';

/** Signed now: the page refuses signatures from the future. */
const now = () => Math.floor(Date.now() / 1000);
const { receipt, key, opening } = issue({ time: now() });
const TEXT = JSON.stringify(receipt);

/** Parts of what a reader enters. None may be in a request. */
const PRIVATE = [
  receipt.statement.key_id,
  receipt.statement.salt,
  receipt.statement.key_commitment,
  receipt.proof.slice(-200, -100),
  key,
  opening,
];

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const verify = (page: Page) => page.getByRole('button', { name: 'Verify', exact: true }).click();
const verdict = (page: Page, name: string) =>
  page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
const ownPolicy = async (page: Page, policy = POLICY) => {
  await page.getByRole('radio', { name: 'your own' }).check({ force: true });
  await field(page, 'Your policy').fill(policy);
};

async function downloadBy(page: Page, button: string): Promise<{ name: string; text: string }> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button, exact: true }).click();
  const file = await download;
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

/** Drops a file on the page, as a reader does. */
async function drop(page: Page, text: string): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(text)}], 'receipt.json'));
    for (const type of ['dragover', 'drop']) {
      document.querySelector('main').dispatchEvent(
        new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }),
      );
    }
  }`);
}

describe('receipts in the dashboard', { skip: NO_CHROMIUM }, () => {
  const dataDir = makeDataDir();
  let server: Server;
  let browser: Browser;
  let opened: WatchedPage;
  let sent: string[];

  async function open(): Promise<Page> {
    const address = `${new URL(server.address).origin}${BASE}/`;
    opened = await openPage(browser, address);
    const { page } = opened;
    sent = [];
    page.on('request', (request) => {
      sent.push(
        `${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ''}`,
      );
    });
    return page;
  }

  /** Opens the view without an API key. */
  async function openView(): Promise<Page> {
    const page = await open();
    await showView(page, 'Receipts');
    return page;
  }

  const servesPolicy = (page: Page, policy = POLICY) =>
    page.route('**/log/policy', (route) => route.fulfill({ body: policy }));

  before(async () => {
    server = await Server.start(dataDir, { PHM_BASE_PATH: BASE });
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await opened.close();
    assert.deepEqual(opened.complaints, [], 'policy, console and requests to elsewhere');
    for (const request of sent) {
      for (const part of PRIVATE) assert.ok(!request.includes(part), `sent: ${request}`);
    }
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('are verified under a policy of the reader, with key and opening', async () => {
    const page = await openView();
    await field(page, 'Receipt').fill(TEXT);
    await ownPolicy(page);
    await field(page, 'Key (optional)').fill(key);
    await field(page, 'Opening (optional)').fill(opening);
    await verify(page);
    await verdict(page, 'Valid under your policy');
    await page.getByRole('status').getByText('Valid under your policy.').waitFor();
    await page.getByText('The given key is the key of this receipt').waitFor();
    await page.getByText(`The log "${ORIGIN}" signed the checkpoint with ML-DSA-44`).waitFor();
    await page.getByText('That the key is random').waitFor();
    await page.getByText('The statement, word for word').click();
    await page.getByText(receipt.statement.salt).waitFor();
    assert.ok(!sent.some((request) => request.includes('/log/')), 'the policy was fetched');

    await field(page, 'Key (optional)').fill('0'.repeat(64));
    await page.getByRole('heading', { level: 2 }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await verdict(page, 'Not valid');
    await page.getByText('The given key is not the key of this receipt').waitFor();

    await page.getByRole('button', { name: 'Clear' }).click();
    assert.equal(await field(page, 'Receipt').inputValue(), '');
    assert.equal(await field(page, 'Opening (optional)').inputValue(), '');
    assert.equal(
      await page.evaluate('document.activeElement.labels[0].textContent'),
      'Receipt',
      'the focus is on a button that is disabled',
    );
  });

  it('are verified under the policy of the server, which pins nothing', async () => {
    const page = await openView();
    await servesPolicy(page);
    await page.getByText('It pins nothing independent').waitFor();
    await field(page, 'Receipt').fill(TEXT);
    await verify(page);
    await verdict(page, 'Valid, by this server’s own policy');
    await page.getByText('a server that cheats would also send a policy that fits').waitFor();
  });

  it('are valid without the key, also if the file has their opening', async () => {
    const page = await openView();
    await servesPolicy(page);
    await drop(page, JSON.stringify({ key_id: receipt.statement.key_id, receipt, opening }));
    await untilTrue(page, "document.querySelector('textarea').value !== ''");
    await verify(page);
    await verdict(page, 'Valid, by this server’s own policy');
    await page.getByText('That you hold the key of this receipt').waitFor();
  });

  it('are read from a dropped file, with what stands beside them', async () => {
    const page = await openView();
    await servesPolicy(page);
    await drop(page, JSON.stringify({ receipt, opening, key, receipt_url: '/x' }));
    await untilTrue(page, "document.querySelector('textarea').value !== ''");
    assert.deepEqual(JSON.parse(await field(page, 'Receipt').inputValue()), receipt);
    assert.equal(await field(page, 'Key (optional)').inputValue(), key);
    await verify(page);
    await page.getByText('The given key is the key of this receipt').waitFor();

    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose a file for Receipt' }).click();
    const cut = Buffer.from(TEXT.slice(0, 800));
    await (await chooser).setFiles({ name: 'cut.json', mimeType: '', buffer: cut });
    await page.getByRole('heading', { level: 2 }).waitFor({ state: 'detached' });
    await verify(page);
    await page.getByRole('heading', { name: 'The receipt was not verified' }).waitFor();
    await page.getByText('This is not a receipt: it is not JSON, or it was cut.').waitFor();
    assert.equal(await page.getByRole('heading', { level: 2 }).count(), 0, 'it is no verdict');
    assert.equal(await page.getByText('The policy came from this server').count(), 0);

    await drop(page, `{"receipt":${TEXT.replace('"salt"', '"salt":"AA==","salt"')}}`);
    await page.getByRole('heading', { level: 2 }).waitFor({ state: 'detached' });
    await verify(page);
    await page.getByText('a JSON object has the member "salt" twice.').waitFor();

    await drop(page, ' '.repeat(5 * 2 ** 20));
    await page.getByRole('alert').getByText('larger than 4 MiB').waitFor();
  });

  it('are read from what was pasted, with what stands beside them', async () => {
    const page = await openView();
    await ownPolicy(page);
    await field(page, 'Receipt').fill(JSON.stringify({ receipt, opening, receipt_url: '/x' }));
    assert.deepEqual(JSON.parse(await field(page, 'Receipt').inputValue()), receipt);
    await field(page, 'Key (optional)').fill(key);
    await verify(page);
    await verdict(page, 'Valid under your policy');
    await page.getByText('The given key is the key of this receipt').waitFor();
  });

  it('are not valid without a policy, and the page says where there is none', async () => {
    const page = await openView();
    await page.route('**/log/policy', (route) => route.fulfill({ status: 404, body: '' }));
    await field(page, 'Receipt').fill(TEXT);
    await verify(page);
    await page.getByRole('alert').getByText('This server keeps no transparency log.').waitFor();
    await ownPolicy(page, '');
    await verify(page);
    await verdict(page, 'Not valid');
    await page.getByText('Without a pinned policy nothing shows whose log this is').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('get no verdict that belongs to an earlier text', async () => {
    const page = await openView();
    let answer = () => {};
    const waiting = new Promise<void>((done) => {
      answer = done;
    });
    await page.route('**/log/policy', async (route) => {
      await waiting;
      await route.fulfill({ body: POLICY });
    });
    await field(page, 'Receipt').fill(TEXT);
    await verify(page);
    await page.getByRole('button', { name: 'Verifying…' }).waitFor();
    await field(page, 'Receipt').fill(TEXT.replace('phase', 'none'));
    const answered = page.waitForResponse('**/log/policy');
    answer();
    await (await answered).finished();
    // A verdict would be there by then.
    await page.evaluate('new Promise((done) => setTimeout(done, 200))');
    await page.getByRole('button', { name: 'Verify', exact: true }).waitFor();
    assert.equal(await page.getByRole('heading', { level: 2 }).count(), 0);
    await verify(page);
    await verdict(page, 'Not valid');
    // Dropping the receipt of another key drops the key of the first.
    await field(page, 'Key (optional)').fill(key);
    await drop(page, JSON.stringify(issue({ statement: { key_id: 'phm_1' } }).receipt));
    await untilTrue(page, "document.querySelector('textarea').value.includes('phm_1')");
    assert.equal(await field(page, 'Key (optional)').inputValue(), '');
  });

  it('are verified in a browser without ML-DSA-44, by a file of its own', async () => {
    const page = await openView();
    await page.evaluate(WITHOUT_ML_DSA);
    await field(page, 'Receipt').fill(TEXT);
    await ownPolicy(page);
    await verify(page);
    await verdict(page, 'Valid under your policy');
    assert.equal(sent.filter((request) => /\/assets\/ml-dsa-[^/]*\.js /.test(request)).length, 1);
  });

  it('come with a key on request, and are verified as they were downloaded', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await openAdvanced(page);
    await page.getByRole('checkbox', { name: 'Get a receipt' }).check();
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).check();
    const { key_id: id } = await generateKey(page);
    await page.getByRole('heading', { name: /^Its receipt/ }).waitFor();
    // On a busy machine the receipt may come later.
    const later = page.getByRole('button', { name: 'Get the receipt' });
    if (await later.isVisible()) await later.click();
    await page.getByRole('heading', { name: 'Its receipt', exact: true }).waitFor();
    const report = await downloadBy(page, 'Download report');
    const files = await downloadBy(page, 'Download receipt and opening');
    const ofKey = await downloadBy(page, 'Download');
    assert.equal(report.text.includes(JSON.parse(ofKey.text).opening), false);

    await page.getByRole('link', { name: 'verify the receipt', exact: true }).click();
    await drop(page, files.text);
    await untilTrue(page, "document.querySelector('textarea').value !== ''");
    await field(page, 'Key (optional)').fill(JSON.parse(ofKey.text).key);
    await verify(page);
    await verdict(page, 'Valid, by this server’s own policy');
    await page.getByText('The given key is the key of this receipt').waitFor();
    await page.getByText(`generated the 256-bit key ${id} at`).waitFor();
    // The key is known from the first file, the report and the receipt from the second.
    await drop(page, report.text);
    await page.getByText('The file also has a nist_report').waitFor();
    await verify(page);
    await page.getByText('The given nist_report has the gate and the p-values').waitFor();
  });

  it('that no checkpoint covered in time come later', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const asked: { include?: string[] }[] = [];
    /** Answers as a service with a log. */
    const withReceipt = (answer: object) => async (route: Route) => {
      const body = route.request().postDataJSON() as { include?: string[] };
      asked.push(body);
      const plain = { ...body, include: body.include?.filter((one) => one !== 'receipt') };
      const response = await route.fetch({ postData: JSON.stringify(plain) });
      const made = (await response.json()) as { key_id: string };
      const receipt_url = `/api/v2/keys/${made.key_id}/receipt`;
      await route.fulfill({ response, json: { ...made, receipt_url, ...answer } });
    };
    const other = issue({ time: now() });
    const late = { receipt: null, opening: other.opening };
    await openAdvanced(page);
    await page.getByRole('checkbox', { name: 'Get a receipt' }).check();
    await page.getByRole('checkbox', { name: 'Run the 15 tests' }).check();
    await page.route('**/api/v2/generate', withReceipt(late), { times: 1 });
    const { key_id: id } = await generateBy(page, () =>
      page.getByRole('button', { name: 'Generate', exact: true }).click(),
    );
    assert.deepEqual(asked[0]?.include, ['nist_report', 'receipt']);
    await page.getByRole('heading', { name: 'Its receipt is not ready yet' }).waitFor();
    const isInPage = (text: string) =>
      page.evaluate<boolean>(`document.body.textContent.includes(${JSON.stringify(text)})`);
    assert.equal(await isInPage(other.opening), false, 'the opening is in the page while masked');
    await page.getByRole('button', { name: 'Reveal the opening' }).click();
    assert.equal(await isInPage(other.opening), true);

    const receipt_url = `/api/v2/keys/${id}/receipt`;
    const statement = { ...other.receipt.statement, key_id: id };
    const receipt = { ...other.receipt, statement };
    const answer = { success: true, receipt, timestamp: new Date().toISOString() };
    await page.route(`**${receipt_url}`, (route) =>
      route.fulfill({ headers: requestIdOf(route), json: answer }),
    );
    await page.getByRole('button', { name: 'Get the receipt' }).click();
    await page.getByRole('heading', { name: 'Its receipt', exact: true }).waitFor();
    await page.getByText(`in its log ${ORIGIN} as entry 5.`).waitFor();

    const { name, text } = await downloadBy(page, 'Download receipt and opening');
    assert.equal(name, `${id}-receipt.json`);
    assert.deepEqual(JSON.parse(text), { ...late, receipt_url, receipt });
  });
});
