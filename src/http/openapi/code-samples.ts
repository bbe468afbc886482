/**
 * The programs that the document shows for an operation, one in each language. A plain read has them made here, and
 * `npm run docs` writes them to `docs/examples/`; those of the other operations are written there by hand.
 */
import { readFileSync } from 'node:fs';
import { DEMO_ACCOUNTS } from '../../accounts/index.ts';

/** Folder of the programs: one file per operation and language. */
const EXAMPLES = new URL('../../../docs/examples/', import.meta.url);

const ADDRESS = 'http://127.0.0.1:8080';

/** A GET with an API key, and these parameters. */
export interface PlainRead {
  readonly operationId: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number>>;
}

interface Language {
  readonly lang: string;
  readonly label: string;
  readonly suffix: string;
  readonly write: (target: string, read: PlainRead, apiKey: string) => string;
}

const LANGUAGES: readonly Language[] = [
  {
    lang: 'Shell',
    label: 'curl',
    suffix: 'curl/$.sh',
    write: (target, _, apiKey) => `curl -s '${target}' \\\n  -H 'X-API-Key: ${apiKey}'\n`,
  },
  {
    lang: 'TypeScript',
    label: 'TypeScript',
    suffix: 'typescript/$.ts',
    write: (_, { operationId, path, query }, apiKey) => {
      const name = camelCase(path.slice(path.lastIndexOf('/') + 1));
      const call = `await phm.${operationId}(${inTypescript(query)});`;
      return `import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: '${ADDRESS}',
  apiKey: '${apiKey}',
});
const ${name} = ${call}
console.log(JSON.stringify(${name}));
`;
    },
  },
  {
    lang: 'Python',
    label: 'Python',
    suffix: 'python/$.py',
    write: (target, _, apiKey) => `import json
from urllib.request import Request, urlopen

request = Request(
    "${target}",
    headers={"X-API-Key": "${apiKey}"},
)
with urlopen(request, timeout=30) as answer:
    print(json.dumps(json.load(answer)))
`,
  },
];

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** Returns the files of an operation's programs in `docs/examples/`, in the order of its samples. */
export function sampleFiles(operationId: string): string[] {
  return LANGUAGES.map(({ suffix }) => suffix.replace('$', operationId));
}

/** Returns the programs of an operation that has files. */
export function writtenSamples(operationId: string): CodeSample[] {
  const files = sampleFiles(operationId);
  return LANGUAGES.map(({ lang, label }, i) => {
    const source = readFileSync(new URL(files[i] as string, EXAMPLES), 'utf8');
    return { lang, label, source };
  });
}

/** Returns the programs of a plain read. */
export function madeSamples(read: PlainRead): CodeSample[] {
  const query = new URLSearchParams(Object.entries(read.query).map(([k, v]) => [k, String(v)]));
  const target = `${ADDRESS}${read.path}${query.size === 0 ? '' : `?${query}`}`;
  const [{ apiKey }] = DEMO_ACCOUNTS;
  return LANGUAGES.map(({ lang, label, write }) => ({
    lang,
    label,
    source: write(target, read, apiKey),
  }));
}

function camelCase(text: string): string {
  return text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function inTypescript(query: PlainRead['query']): string {
  const members = Object.entries(query).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  return members.length === 0 ? '' : `{ ${members.join(', ')} }`;
}
