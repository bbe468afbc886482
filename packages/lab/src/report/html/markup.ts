/**
 * HTML and SVG as text. A template escapes its contents unless they are markup, so a file name can neither
 * become a tag nor leave its attribute.
 */

import { wrongType } from '../../../../sp800-22/src/arguments.ts';

/** Text that is markup. Only `markup` creates it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = string | number | Markup | readonly Content[];

export const NOTHING: Markup = new Markup('');

/** A template tag. Attributes MUST be in double quotes. */
export function markup(parts: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  if (!Array.isArray(parts)) throw wrongType('parts', 'the texts of a template', parts);
  return new Markup(String.raw({ raw: parts }, ...contents.map(toText)));
}

function toText(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (!isContent(content)) throw wrongType('contents', 'texts, numbers and markup', content);
  return typeof content === 'object' ? content.map(toText).join('') : escapeText(String(content));
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || typeof content === 'number' || Array.isArray(content);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text, and replaces the control characters that file names may contain. */
function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]).replace(/\p{Cc}/gu, '\ufffd');
}
