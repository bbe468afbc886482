/**
 * Takes the picture of the dashboard in the README, docs/images/dashboard.png, with a server that has some keys:
 *
 *   npx node scripts/dashboard-picture.ts
 *
 * Needs Chromium. Look at the picture before you commit it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { enterApiKey, launchBrowser } from '../test/support/browsers/browser.ts';
import { DEMO_PROFESSIONAL_KEY, Server } from '../test/support/servers/server.ts';

const PICTURE = join(import.meta.dirname, '../docs/images/dashboard.png');

/** A laptop's window without the browser's bars. */
const viewport = { width: 1280, height: 720 };

/** Labels and number of the keys in the picture. */
const KEYS = [
  { use: 'invoices', env: 'prod' },
  { use: 'backup', env: 'prod' },
  { use: 'vpn', site: 'berlin' },
  { use: 'invoices', env: 'test' },
];

async function fill(server: Server): Promise<void> {
  for (const labels of [...KEYS, ...KEYS]) {
    await server.generate({ security_level: 256, labels }, DEMO_PROFESSIONAL_KEY);
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'phm-picture-'));
const server = await Server.start(dataDir);
const browser = await launchBrowser();
try {
  await fill(server);
  const page = await browser.newPage({ viewport, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(server.address);
  await enterApiKey(page, DEMO_PROFESSIONAL_KEY);
  await page.waitForLoadState('networkidle');
  mkdirSync(dirname(PICTURE), { recursive: true });
  await page.screenshot({ path: PICTURE });
} finally {
  await browser.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
