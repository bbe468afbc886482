/** The running tests: a bar, a row for each test, and a button that cancels. */
import { grouped } from '../../../../sp800-22/src/index.ts';
import type { RunProgress, TestProgress } from '../engine/messages.ts';
import { byId, element } from './dom.ts';

export class ProgressView {
  readonly #bar = element('progress', { 'aria-label': 'Sequences tested' });
  readonly #text = element('p', {});
  readonly #entropy = element('p', { class: 'note' });
  readonly #cancel = element('button', { type: 'button' }, 'Cancel');
  readonly #body = element('tbody');
  readonly #rows = new Map<string, HTMLTableCellElement[]>();
  readonly #startMs = performance.now();
  readonly #bitsPerSequence: number;

  constructor(bitsPerSequence: number, onCancel: () => void) {
    this.#bitsPerSequence = bitsPerSequence;
    this.#cancel.onclick = onCancel;
    const heading = ['Test', 'Sequences passed', 'Smallest p-value'].map((title) =>
      element('th', { scope: 'col' }, title),
    );
    byId('run').replaceChildren(
      element('h2', { id: 'run-title', tabindex: -1 }, 'Tests'),
      this.#bar,
      this.#text,
      this.#entropy,
      element('div', { class: 'buttons' }, this.#cancel),
      element(
        'div',
        { class: 'scroll', tabindex: 0 },
        element(
          'table',
          { class: 'live' },
          element('thead', {}, element('tr', {}, ...heading)),
          this.#body,
        ),
      ),
    );
    byId('run').hidden = false;
    byId('run-title').focus();
  }

  update({ finished, expected, tests }: RunProgress): void {
    if (expected !== null) {
      this.#bar.max = Math.max(1, expected);
      this.#bar.value = finished;
    }
    const total = expected === null ? '' : ` of ${grouped(expected)}`;
    const seconds = (performance.now() - this.#startMs) / 1000;
    const rate = (finished * this.#bitsPerSequence) / 1e6 / Math.max(0.001, seconds);
    const speed = this.#bitsPerSequence > 0 ? `, ${rate.toFixed(1)} Mbit/s` : '';
    const noun = (expected ?? finished) === 1 ? 'sequence' : 'sequences';
    this.#text.textContent = `${grouped(finished)}${total} ${noun} tested${speed}`;
    for (const test of tests) this.#updateRow(test);
  }

  /** Says what happens before the tests. */
  say(text: string): void {
    this.#text.textContent = text;
  }

  sayOnEntropy(text: string): void {
    this.#entropy.textContent = text;
  }

  /** Keeps the bar and its text until the next run. The report has the rows. */
  endTests(): void {
    if (!this.#bar.hasAttribute('value')) this.#bar.value = 1;
    this.#body.closest('.scroll')?.remove();
  }

  /** There is nothing left to cancel. */
  end(): void {
    this.#cancel.disabled = true;
    if (!this.#bar.hasAttribute('value')) this.#bar.value = 1;
  }

  fail(message: string): void {
    this.#text.className = 'problem';
    this.#text.setAttribute('role', 'alert');
    this.#text.textContent = message;
    this.end();
  }

  #updateRow({ name, applicable, passed, smallest }: TestProgress): void {
    const [counts, p] = this.#rows.get(name) ?? this.#addRow(name);
    if (!counts || !p) return;
    const none = applicable === 0;
    counts.textContent = none ? 'not applicable' : `${grouped(passed)} of ${grouped(applicable)}`;
    p.textContent = none ? '' : smallest.toPrecision(3);
  }

  #addRow(name: string): HTMLTableCellElement[] {
    const cells = [element('td'), element('td')];
    this.#rows.set(name, cells);
    this.#body.append(element('tr', {}, element('th', { scope: 'row' }, name), ...cells));
    return cells;
  }
}
