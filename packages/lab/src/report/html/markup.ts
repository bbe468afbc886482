/**
 * HTML and SVG as text. A template escapes its contents unless they are markup, so a file name can neither
 * become a tag nor leave its attribute.
 */

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
  return new Markup(String.raw({ raw: parts }, ...contents.map(toText)));
}

function toText(content: Content): string {
  if (content instanceof Markup) return content.text;
  return typeof content === 'object' ? content.map(toText).join('') : escapeText(String(content));
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
