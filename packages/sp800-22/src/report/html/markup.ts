/**
 * HTML and SVG as text. What is put into a template is escaped unless it is markup itself, so that no
 * name of a file becomes a tag or leaves its attribute.
 */

/** Text that is markup: made by `markup` alone. */
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

/** Control characters, which names of files may hold, have no place in a page. */
function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]).replace(/\p{Cc}/gu, '\ufffd');
}
