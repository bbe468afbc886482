/** The view Generate of the dashboard: the request as code, sealed keys, and what a reader sees at once. In a browser, 10 s. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  openSealedKey,
} from '../../../sdk/src/index.ts';
import {
  enterApiKey,
  generateBy,
  generateKey,
  NO_CHROMIUM,
  showView,
} from '../../support/browsers/browser.ts';
import { clipboard, dashboardSite, traces } from '../../support/browsers/dashboard-site.ts';
import { DEMO_PROFESSIONAL_KEY } from '../../support/servers/server.ts';

describe('Generate in the dashboard', { skip: NO_CHROMIUM }, () => {
  const open = dashboardSite();

  it('shows the request as code while the form changes, without the API key', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const code = page.locator('.code pre');
    await code.getByText('{"security_level":256}').waitFor();
    assert.ok((await code.innerText()).includes(new URL('api/v2/generate', page.url()).href));
    await page.getByRole('radio', { name: '384 bits' }).check({ force: true });
    await page.getByRole('button', { name: 'Add a label' }).click();
    await page.keyboard.type('env');
    await page.keyboard.press('Tab');
    await page.keyboard.type('prod');
    await code.getByText('"env": "prod"').waitFor();
    for (const [language, call] of [
      ['TypeScript', 'phm.generate({'],
      ['Python', 'labels={"env": "prod"}'],
    ] as const) {
      await page.getByRole('radio', { name: language }).check({ force: true });
      await code.getByText(call).waitFor();
      await page.getByRole('button', { name: 'Copy the code' }).click();
      const copied = await clipboard(page);
      assert.equal(copied, await code.innerText());
      assert.equal(copied.includes(DEMO_PROFESSIONAL_KEY), false);
    }
    const sent = page.waitForRequest((request) => request.url().endsWith('/generate'));
    await generateKey(page);
    assert.deepEqual((await sent).postDataJSON(), {
      security_level: 384,
      labels: { env: 'prod' },
    });
  });

  it('puts the key where it is seen at once, and says what is next', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.getByRole('button', { name: 'Generate', exact: true }).scrollIntoViewIfNeeded();
      const { key_id: id } = await generateKey(page);
      for (const part of ['.secret h2', '.secret .digits', '.secret button.primary']) {
        const box = await page.locator(part).boundingBox();
        assert.ok(
          box && box.y >= 0 && box.y + box.height <= height,
          `${part} at ${width}: ${box?.y}`,
        );
      }
      const next = page.getByRole('region', { name: 'Next' });
      assert.equal(
        await next.getByRole('link', { name: 'Its record' }).getAttribute('href'),
        `#/keys/${id}`,
      );
      await next.getByRole('link', { name: 'Verify the receipt' }).waitFor();
      const guide = await next.getByRole('link', { name: 'Encrypt a file' }).getAttribute('href');
      assert.equal((await fetch(new URL(guide ?? '', page.url()))).status, 200, guide ?? '');
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByText('You have a copy').waitFor();
    }
  });

  it('seals a key to a recipient, whose private key alone opens it', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    const recipient = await newRecipient();
    await page.getByRole('radio', { name: 'sealed to a recipient' }).check({ force: true });
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page.getByRole('alert').getByText('Paste the recipient of the key.').waitFor();
    const field = page.getByRole('textbox', { name: 'Recipient' });
    const secret = formatRecipientKey(recipient);
    await field.fill(secret);
    await page.getByRole('alert').getByText('This holds a private key').waitFor();
    assert.equal(await field.inputValue(), '', 'the private key stays in the field');
    await field.fill(formatRecipient(recipient));
    const answer = page.waitForResponse((response) => response.url().endsWith('/generate/sealed'));
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    const body = await (await answer).json();
    assert.equal('key' in body, false);
    const guide = await page.getByRole('link', { name: 'Encrypt a file' }).getAttribute('href');
    assert.match(guide ?? '', /sealed-key/);
    assert.equal((await fetch(new URL(guide ?? '', page.url()))).status, 200, guide ?? '');
    await page.getByRole('heading', { name: 'Your sealed 256-bit key' }).waitFor();
    await page.getByRole('status').getByText('The key is ready and sealed.').waitFor();
    await showView(page, 'Validate');
    await page.getByRole('link', { name: 'Key not copied yet' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), `${body.key_id}.sealed.json`);
    await page.getByText('You have a copy').waitFor();
    const opened = await openSealedKey(readFileSync(await file.path(), 'utf8'), recipient);
    assert.equal(opened.key.length, 32);
    const left = await traces(page);
    assert.equal(left.includes(Buffer.from(opened.key).toString('hex')), false);
    assert.equal(left.includes(JSON.parse(secret).private_key), false);
  });

  it('leaves one key at a time', async () => {
    const page = await open();
    await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
    await generateKey(page);
    await page.getByText('The request as code').click();
    await page.getByRole('button', { name: 'Copy the code' }).waitFor();
    const agree = page.getByRole('button', { name: 'Generate and replace it' });
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await generateBy(page, () => agree.click());
    assert.equal(await page.locator('.secret').count(), 1);
  });
});
