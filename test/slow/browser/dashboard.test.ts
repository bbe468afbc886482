/** Every view of the dashboard in both themes and four widths. 30 s. */
import { it } from 'node:test';
import { launchBrowser, NO_CHROMIUM, openPage } from '../../support/browsers/browser.ts';
import { walkViews } from '../../support/browsers/walk-views.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

it('the dashboard has no accessibility barriers and no sideways scrolling in any view', {
  skip: NO_CHROMIUM,
}, async () => {
  const dataDir = makeDataDir();
  const server = await Server.start(dataDir);
  const browser = await launchBrowser();
  try {
    const { page } = await openPage(browser, `${server.address}/`);
    // 320 is as wide as 1280 pixels at 400 % zoom (WCAG 2.2, 1.4.10).
    const widths = [320, 390, 768, 1440];
    await walkViews(
      page,
      widths.flatMap((width) => [
        { colorScheme: 'light', width },
        { colorScheme: 'dark', width },
      ]),
    );
  } finally {
    await browser.close();
    await server.stop();
    removeDataDir(dataDir);
  }
});
