/** The errors: the table of the page, the codes of the Python client, and those of the exchanges of both clients. */
import { ERRORS } from '../../../src/errors.ts';
import { type Part, partOfPage, tableText } from './part.ts';

const ROWS = Object.entries(ERRORS);

/** Codes that have exchanges of their own, because more than the code decides what a client does. */
const APART = ['ledger_unavailable', 'key_already_made'];

function pageText(): string {
  return tableText(
    ['Code', 'Status', 'When', 'What to do', 'Retry'],
    ROWS.map(([code, { status, when, advice, retry }]) => [
      `\`${code}\``,
      String(status),
      when,
      advice,
      retry,
    ]),
  );
}

function exchangesOf(name: string, passes: boolean): Part {
  const codes = ROWS.filter(
    ([code, { retry }]) =>
      !APART.includes(code) && (retry === 'yes' || retry === 'after a wait') === passes,
  );
  return {
    file: 'sdk/exchanges/retries.json',
    after: [`"name": "${name}",\n`, '"cases": [\n'],
    before: '\n    ]',
    text: codes.map(([code]) => `      "${code}"`).join(',\n'),
  };
}

export function errorParts(): Part[] {
  return [
    partOfPage('docs/errors.md', 'errors', pageText()),
    {
      file: 'sdk/python/src/phm_client/types.py',
      after: ['\nErrorCode = Literal[\n'],
      before: ']\n',
      text: ROWS.map(([code]) => `    "${code}",\n`).join(''),
    },
    {
      file: 'sdk/exchanges/bodies.json',
      after: ['"statuses": {\n'],
      before: '\n  }',
      text: ROWS.map(([code, { status }]) => `    "${code}": ${status}`).join(',\n'),
    },
    exchangesOf('a refusal that does not pass is final', false),
    exchangesOf('a refusal that passes is followed by another request', true),
  ];
}
