/** The section with the estimates of SP 800-90B. */
import type { EntropyResult } from '../engine/messages.ts';
import { download, element } from './dom.ts';

/** `result` is the reason if there are no estimates. */
export function entropySection(result: EntropyResult | string, name: string): HTMLElement {
  const section = element(
    'section',
    { id: 'entropy' },
    element('h2', {}, 'Min-entropy by SP 800-90B, non-IID track'),
  );
  if (typeof result === 'string') {
    section.append(element('p', { class: 'problem' }, `There is no estimate: ${result}`));
    return section;
  }
  const json = new Blob([result.json], { type: 'application/json' });
  const html = new Blob([result.html], { type: 'text/html' });
  section.append(
    ...result.notes.map((note) => element('p', {}, note)),
    element('pre', { tabindex: 0 }, result.text),
    element(
      'div',
      { class: 'buttons' },
      download(html, `${name}.entropy.html`, 'Save estimates as HTML'),
      download(json, `${name}.entropy.json`, 'Save estimates as JSON'),
    ),
  );
  return section;
}
