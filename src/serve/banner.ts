/** What a server says when it is ready: where it is and, on a terminal, how to try it. */

import { styleText } from 'node:util';
import type { Logger } from 'pino';
import { visible } from '#platform/terminal';
import { PROJECT_VERSION } from '../process/version.ts';

export interface Announcement {
  /** Address of the service, with its base path. */
  readonly address: string;
  readonly json: boolean;
  /** True if the dashboard is built. */
  readonly dashboard: boolean;
  /** The data directory, or the database in PostgreSQL. */
  readonly data: string;
  /** True if the listener refuses clients without post-quantum key exchange. */
  readonly requiresHybrid: boolean;
  /** URL of the page for Prometheus, or null. */
  readonly metricsAddress: string | null;
  /** A demo API key that this server accepts, or null. */
  readonly demoApiKey: string | null;
  /** True if the first API key that an operator issues ends the demo keys. */
  readonly demoKeysEnd: boolean;
  /** True if demo keys have ended because an operator issued an API key. */
  readonly demoKeysEnded: boolean;
  /** Returns a complete command line for these words, in the form in which this server was started. */
  readonly commandLine: (words: string) => string;
  /** True if stderr is a terminal that shows colours. */
  readonly color: boolean;
}

/** Writes the banner to a terminal, or a line to the log, and with `json` one line of data to stdout. */
export function announce(announcement: Announcement, log: Logger | 'terminal'): void {
  if (log === 'terminal') process.stderr.write(bannerText(announcement));
  else log.info(listeningFields(announcement), 'listening');
  if (announcement.json) {
    const { address, demoApiKey, metricsAddress } = announcement;
    const start = {
      address,
      demo_api_key: demoApiKey,
      metrics_address: metricsAddress,
      pid: process.pid,
    };
    process.stdout.write(`${visible(JSON.stringify(start))}\n`);
  }
}

/** Returns the fields of the log line. They hold no API key. */
export function listeningFields(announcement: Announcement): object {
  const { address, dashboard, data, metricsAddress, demoApiKey } = announcement;
  return {
    version: PROJECT_VERSION,
    address,
    dashboard: dashboard ? `${address}/` : null,
    docs: `${address}/docs`,
    data,
    metrics: metricsAddress,
    demoKeys: demoApiKey !== null,
  };
}

/**
 * Returns the banner: at most 80 columns and 24 lines for a short address. Its curl command works when pasted.
 */
export function bannerText(announcement: Announcement): string {
  const { address, dashboard, data, requiresHybrid, metricsAddress, demoApiKey, color } =
    announcement;
  const bold = (text: string) => paint('bold', text, color);
  const faint = (text: string) => paint('dim', text, color);
  const rows = [
    ['Service', requiresHybrid ? `${address}  for clients with post-quantum TLS` : address],
    ...(dashboard ? [['Dashboard', `${address}/`]] : []),
    ['Documentation', `${address}/docs`],
    ['Data', data],
    ...(metricsAddress ? [['Metrics', metricsAddress]] : []),
    ...(demoApiKey ? [['Demo API key', demoApiKey]] : []),
  ].map(
    ([name = '', value = '']) => `  ${name.padEnd(15)}${paint('cyan', visible(value), color)}\n`,
  );
  const about = aboutKeys(announcement);
  // OpenSSL before 3.5 has no hybrid groups.
  const how = requiresHybrid ? '; curl needs OpenSSL 3.5 or newer' : ', from another terminal';
  return `
${bold(`PHM key service ${PROJECT_VERSION}`)}

${rows.join('')}${about}
  A 256-bit key${how}:

    curl -s ${address}/api/v2/generate \\
      -H 'X-API-Key: ${demoApiKey ?? '<API_KEY>'}' \\
      -H 'Content-Type: application/json' \\
      -d '{"security_level": 256}'

  ${faint('Stop: Ctrl-C')}

`;
}

/** Returns the lines that say where an API key for the curl command comes from. */
function aboutKeys(announcement: Announcement): string {
  const { demoApiKey, demoKeysEnd, demoKeysEnded, commandLine, color } = announcement;
  if (demoApiKey) {
    const text = demoKeysEnd
      ? 'public; ends when you issue an API key'
      : 'public; works for anyone who reaches this server';
    return paint('dim', `${' '.repeat(17)}${text}\n`, color);
  }
  if (demoKeysEnded) {
    return '\n  Demo keys have ended: use an API key that was issued here.\n';
  }
  return (
    '\n  Requests need an API key. To create an account and issue one:\n\n' +
    `    ${visible(commandLine('account create --name "My team" --plan research'))}\n` +
    `    ${visible(commandLine('api-key issue --account <account_id>'))}\n`
  );
}

function paint(style: 'bold' | 'cyan' | 'dim', text: string, color: boolean): string {
  return color ? styleText(style, text, { validateStream: false }) : text;
}
