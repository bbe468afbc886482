/** The settings of `docs/configuration.md`: a table for each section. */
import { ENVIRONMENT } from '../../../src/config/index.ts';
import { SECTIONS, type Setting } from '../../../src/config/setting.ts';
import { type Part, partOfPage, tableText } from './part.ts';

const HEAD = ['Variable', 'Value', 'Default', 'Meaning'];

const code = (text: string) => `\`${text}\``;

/** Returns what a value may be. */
function valuesOf({ bounds, range, choices, value, kind }: Setting): string {
  const limits = bounds ?? range;
  if (limits) return limits.join('…');
  if (choices) return choices.join() === 'on,off' ? 'switch' : choices.map(code).join(', ');
  return value ?? (kind === 'command' ? 'shell command' : (kind ?? 'text'));
}

function rowOf([name, setting]: readonly [string, Setting]): string[] {
  const { default: byDefault, unset = 'unset', meaning } = setting;
  return [code(name), valuesOf(setting), byDefault === '' ? unset : code(byDefault), meaning];
}

export function settingParts(): Part[] {
  const settings = Object.entries<Setting>(ENVIRONMENT);
  return SECTIONS.map((section) => {
    const rows = settings.filter(([, setting]) => setting.section === section).map(rowOf);
    return partOfPage('docs/configuration.md', section, tableText(HEAD, rows));
  });
}
