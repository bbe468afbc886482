/** The request of the form as code. The API key is a variable of the environment: the code never holds it. */
import type { OrderRequest } from './order.ts';

export const LANGUAGES = [
  { value: 'curl', label: 'curl' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
] as const;

export type Language = (typeof LANGUAGES)[number]['value'];

/** Returns the code for a request to the service at this address, which has no slash at its end. */
export function snippet(language: Language, request: OrderRequest, address: string): string {
  return { curl, typescript, python }[language](request, address);
}

function curl({ kind, body }: OrderRequest, address: string): string {
  const path = kind === 'sealed' ? 'generate/sealed' : 'generate';
  const isShort = Object.keys(body).length === 1;
  const json = isShort ? JSON.stringify(body) : JSON.stringify(body, undefined, 2);
  return [
    `curl ${shellWord(`${address}/api/v2/${path}`)} \\`,
    '  -H "X-API-Key: $PHM_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d ${shellWord(json)}`,
  ].join('\n');
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Reports whether the recipient is a public key, which code reads from its file. */
function isFromFile({ kind, body }: OrderRequest): boolean {
  return kind === 'sealed' && !('recipient' in body.seal_to);
}

function typescript(request: OrderRequest, address: string): string {
  const { kind, body } = request;
  const fromFile = isFromFile(request);
  const fields = fromFile ? { ...body, seal_to: 0 } : body;
  const object = JSON.stringify(fields, undefined, 2)
    .replace(/^( +)"([a-z_]+)":/gm, '$1$2:')
    .replace(/^( {2}seal_to:) 0/m, '$1 sealTo(recipient)');
  return [
    ...(fromFile ? ["import { readFile } from 'node:fs/promises';"] : []),
    `import { ${fromFile ? 'parseRecipient, PhmClient, sealTo' : 'PhmClient'} } from 'phm-client';`,
    '',
    'const phm = new PhmClient({',
    `  baseUrl: '${address}',`,
    '  apiKey: process.env.PHM_API_KEY,',
    '});',
    ...(fromFile
      ? ["const recipient = parseRecipient(await readFile('my.recipient', 'utf8'));"]
      : []),
    kind === 'sealed'
      ? `const sealed = await phm.generateSealed(${object});`
      : `const { key, key_id } = await phm.generate(${object});`,
  ].join('\n');
}

function python(request: OrderRequest, address: string): string {
  const { kind, body } = request;
  const fromFile = isFromFile(request);
  const { security_level: level, expires_at: expires, include, ...others } = body;
  const seal =
    kind === 'sealed'
      ? [`seal_to=${'recipient' in body.seal_to ? literal(body.seal_to.recipient) : 'recipient'}`]
      : [];
  const rest = Object.entries(others)
    .filter(([name]) => name !== 'seal_to')
    .map(([name, value]) => `${name}=${literal(value)}`);
  const args = [
    String(level),
    ...seal,
    ...rest,
    ...(include ? [`include=${literal(include.length === 1 ? include[0] : include)}`] : []),
    ...(expires ? [`expires_at=datetime.fromisoformat(${literal(expires)})`] : []),
  ];
  const call = args.length === 1 ? args[0] : `\n    ${args.join(',\n    ')},\n`;
  return [
    'import os',
    ...(expires ? ['from datetime import datetime'] : []),
    ...(fromFile ? ['from pathlib import Path'] : []),
    '',
    `from phm_client import PhmClient${fromFile ? ', parse_recipient' : ''}`,
    '',
    `phm = PhmClient("${address}", os.environ["PHM_API_KEY"])`,
    ...(fromFile ? ['recipient = parse_recipient(Path("my.recipient").read_text())'] : []),
    kind === 'sealed'
      ? `sealed = phm.generate_sealed(${call})`
      : `generated = phm.generate(${call})`,
  ].join('\n');
}

/** Writes a value in Python. A text has the same escapes as in JSON. */
function literal(value: unknown): string {
  if (value === true) return 'True';
  if (Array.isArray(value)) return `(${value.map(literal).join(', ')})`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, one]) => `${literal(name)}: ${literal(one)}`);
  return `{${members.join(', ')}}`;
}
