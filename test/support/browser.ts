/** A real browser, where the machine has one. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM_PATH ?? PLACES.find((place) => existsSync(place));

/** Why there is no browser here, or undefined. */
export const lackingBrowser: string | undefined =
  executablePath === undefined
    ? `no browser at ${PLACES.join(', ')}, nor in CHROMIUM_PATH`
    : undefined;

export function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(lackingBrowser);
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
