/** The types that each client exports: those of its file of types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../pages.ts';
import type { Part } from './part.ts';

const PYTHON = 'sdk/python/src/phm_client';

/** Parts of other types, which callers need not name. */
const NOT_EXPORTED = ['Figures', 'KeyBatch'];

export function exportParts(): Part[] {
  return [typescriptPart(), ...pythonParts()];
}

function typescriptPart(): Part {
  const types = namesIn('sdk/src/types.ts', /^export (?:type|interface) (\w+)/gm);
  return {
    file: 'sdk/src/index.ts',
    after: ["} from './sealing/recipient.ts';\n", 'export type {\n'],
    before: "} from './types.ts';",
    text: types
      .sort(ignoringCase)
      .map((name) => `  ${name},\n`)
      .join(''),
  };
}

function pythonParts(): Part[] {
  const file = `${PYTHON}/__init__.py`;
  const types = namesIn(`${PYTHON}/types.py`, /^(?:class (?=[A-Z])|(?=[A-Z]\w+ = Literal))(\w+)/gm)
    .filter((name) => !NOT_EXPORTED.includes(name))
    .sort(ignoringCase);
  const functions = namesIn(`${PYTHON}/types.py`, /^def (\w+)/gm);
  const [others = ''] = textOf(file).split('from .types import');
  const imported = others.matchAll(/(?:^from \.\w+ import (?!\()| {4}|, )(\w+)/gm);
  const exported = [...[...imported].map(([, name = '']) => name), ...types, ...functions];
  return [
    {
      file,
      after: ['from .types import (\n'],
      before: ')',
      text: [...types, ...functions].map((name) => `    ${name},\n`).join(''),
    },
    {
      file,
      after: ['__all__ = [\n'],
      before: ']',
      text: exported
        .sort()
        .map((name) => `    "${name}",\n`)
        .join(''),
    },
  ];
}

function namesIn(file: string, pattern: RegExp): string[] {
  return [...textOf(file).matchAll(pattern)].map(([, name = '']) => name);
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** As the formatters of both languages sort imports. */
function ignoringCase(a: string, b: string): number {
  return a.toLowerCase() < b.toLowerCase() ? -1 : 1;
}
