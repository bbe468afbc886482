/** Fields of the form, and what they hold. */
import { element } from './dom.ts';

type Choice = readonly [value: string, label: string];

export function select(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
  hint?: string,
): HTMLElement {
  const options = choices.map(([value, text]) =>
    element('option', { value, selected: value === chosen }, text),
  );
  const hintId = `${name}-hint`;
  const properties = { id: name, name, required: name === 'encoding' };
  const control = element(
    'select',
    { ...properties, 'aria-describedby': hint === undefined ? undefined : hintId },
    ...options,
  );
  return withHint(field(name, label, control), hintId, hint);
}

export function number(
  name: string,
  label: string,
  limits: Readonly<Record<string, number>>,
  hint?: string,
): HTMLElement {
  return input(name, label, { type: 'number', step: 1, ...limits }, hint);
}

export function input(
  name: string,
  label: string,
  properties: Readonly<Record<string, string | number>>,
  hint?: string,
): HTMLElement {
  const hintId = `${name}-hint`;
  const control = element('input', {
    id: name,
    name,
    ...properties,
    'aria-describedby': hint === undefined ? undefined : hintId,
  });
  return withHint(field(name, label, control), hintId, hint);
}

function withHint(made: HTMLElement, id: string, hint: string | undefined): HTMLElement {
  if (hint !== undefined) made.append(element('span', { class: 'note', id }, hint));
  return made;
}

function field(name: string, label: string, control: HTMLElement): HTMLElement {
  return element('div', { class: 'field' }, element('label', { for: name }, label), control);
}

/** Returns fields that the reader opens. */
export function folded(title: string, ...content: readonly HTMLElement[]): HTMLElement {
  return element('details', {}, element('summary', {}, title), ...content);
}

export function read(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '');
}

/** Returns the number in a field; null for an empty one. */
export function count(form: HTMLFormElement, name: string): number | null {
  const text = read(form, name);
  return text === '' ? null : Number(text);
}

/** Returns a field of the form that has this name. */
export function control<Type extends HTMLElement = HTMLInputElement>(
  form: HTMLFormElement,
  name: string,
): Type {
  return form.elements.namedItem(name) as unknown as Type;
}
