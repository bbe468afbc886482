/** HTML as text: a template escapes its contents unless they are markup. Unlike that of the reports it keeps line ends. */

/** Text that is HTML. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Content = string | number | Markup | readonly Content[];

export const NOTHING: Markup = new Markup('');

/** A template tag. Attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return new Markup(String.raw({ raw: parts }, ...contents.map(toText)));
}

function toText(content: Content): string {
  if (content instanceof Markup) return content.text;
  return typeof content === 'object' ? content.map(toText).join('') : escapeHtml(String(content));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
}
