/** Renders Markdown with the anchors of GitHub, with links between pages of the site and with rows that can be linked. */
import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from './html.ts';

export interface Heading {
  readonly id: string;
  readonly title: string;
  readonly depth: number;
}

/** A part of a page that a search can find: what follows a heading, or a row of a table. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly isRow: boolean;
}

export interface RenderedPage {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

/** Returns the address of a link's target, relative to the page; null if the site has no such page. */
type Resolve = (target: string) => string | null;

/** Renders a page. */
export function renderPage(text: string, resolve: Resolve): RenderedPage {
  return new PageRenderer(resolve).render(text);
}

/** Renders a short text without headings of its own, such as a description. */
export function renderText(text: string, resolve: Resolve): string {
  return renderPage(text, resolve).html;
}

/** A name in a first cell, such as an error code or a variable, to which others can link. */
const ROW_NAME = /^`([A-Za-z_][\w.-]*)`$/;

class PageRenderer {
  readonly #slugger = new GithubSlugger();
  readonly #resolve: Resolve;
  readonly #ids = new Set<string>();
  /** Names of rows that have no anchor in the page yet. */
  readonly #rows = new Set<string>();
  readonly #headings: Heading[] = [];
  readonly #sections: { id: string; title: string; text: string; isRow: boolean }[] = [];
  readonly #marked: Marked;
  #nextHeading = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
    this.#marked = new Marked({ gfm: true });
    this.#marked.use({ renderer: this.#renderer() });
  }

  render(text: string): RenderedPage {
    const tokens = this.#marked.lexer(text);
    for (const token of tokens) if (token.type === 'heading') this.#addHeading(token);
    for (const token of tokens) this.#addText(token);
    this.#nextHeading = 0;
    const html = this.#marked.parser(tokens);
    return { html, headings: this.#headings, sections: this.#sections };
  }

  #addHeading(token: Token): void {
    const { depth, text } = token as Tokens.Heading;
    const title = plainText(text);
    const id = this.#slugger.slug(title);
    this.#ids.add(id);
    this.#headings.push({ id, title, depth });
  }

  /** Adds the token to the section that it is in. Headings in lists or quotes have no anchor. */
  #addText(token: Token): void {
    if (token.type === 'heading') {
      const { id, title } = this.#headings[this.#nextHeading++] as Heading;
      this.#sections.push({ id, title, text: '', isRow: false });
      return;
    }
    const section = this.#sections.findLast(({ isRow }) => !isRow);
    if (!section) return;
    section.text += `${plainText(token.raw)}\n`;
    if (token.type === 'table') this.#addRows(token as Tokens.Table);
  }

  #addRows({ rows }: Tokens.Table): void {
    for (const [first, ...others] of rows) {
      const [, name] = ROW_NAME.exec(first?.text ?? '') ?? [];
      if (name === undefined || this.#ids.has(name)) continue;
      this.#ids.add(name);
      this.#rows.add(name);
      const text = others.map((cell) => plainText(cell.text)).join('. ');
      this.#sections.push({ id: name, title: name, text, isRow: true });
    }
  }

  #renderer() {
    const self = this;
    return {
      heading(this: { parser: Parser }, { tokens, depth }: Tokens.Heading): string {
        const { id = '' } = self.#headings[self.#nextHeading++] ?? {};
        const words = this.parser.parseInline(tokens);
        const anchor =
          depth === 1
            ? ''
            : ` <a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a>`;
        return `<h${depth} id="${id}">${words}${anchor}</h${depth}>\n`;
      },
      link(this: { parser: Parser }, { href, tokens, title }: Tokens.Link): string {
        const words = this.parser.parseInline(tokens);
        return self.#link(href, words, title ?? null);
      },
      image({ href, text }: Tokens.Image): string {
        const source = /^[a-z]+:/.test(href) ? null : self.#resolve(href);
        return source === null
          ? escapeHtml(text)
          : `<img src="${source}" alt="${escapeHtml(text)}">`;
      },
      table(this: { parser: Parser }, table: Tokens.Table): string {
        return self.#table(table, (tokens) => this.parser.parseInline(tokens));
      },
      code({ text, lang }: Tokens.Code): string {
        const language = lang ? ` data-language="${escapeHtml(lang)}"` : '';
        return `<pre tabindex="0"${language}><code>${escapeHtml(text)}</code></pre>\n`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        if (text.trimStart().startsWith('<!--')) return '';
        return text.replace(/ (src|srcset|href)="([^":]+)"/g, (_, name: string, target: string) => {
          return ` ${name}="${self.#resolve(target) ?? target}"`;
        });
      },
    };
  }

  #table({ header, rows }: Tokens.Table, inline: (tokens: Token[]) => string): string {
    const isStacked = rows.length > 0 && isOfSentences(header, rows);
    const isHeaded = header.some(({ text }) => text !== '');
    const head = header.map((cell) => headCell(cell, inline(cell.tokens))).join('');
    const columns = header.map(({ text }, place) =>
      isStacked && place > 0 && header.length > 2 ? plainText(text) : '',
    );
    const lines = rows.map((row) => {
      const cells = row.map((cell, place) => {
        const name = columns[place] ? ` data-column="${escapeHtml(columns[place])}"` : '';
        return `<td${alignment(cell)}${name}>${inline(cell.tokens)}</td>`;
      });
      return `<tr${this.#anchorOf(row)}>${cells.join('')}</tr>`;
    });
    return `<div class="table${isStacked ? ' stacked' : ''}" tabindex="0" role="group" aria-label="Table"><table>${
      isHeaded ? `<thead><tr>${head}</tr></thead>` : ''
    }<tbody>${lines.join('\n')}</tbody></table></div>\n`;
  }

  /** Returns the anchor of a row that begins with a name, once for each name. */
  #anchorOf([first]: readonly Tokens.TableCell[]): string {
    const [, name = ''] = ROW_NAME.exec(first?.text ?? '') ?? [];
    return this.#rows.delete(name) ? ` id="${name}"` : '';
  }

  /** A file that is no page is named by its path: the project has no public address. */
  #link(href: string, words: string, title: string | null): string {
    const tooltip = title === null ? '' : ` title="${escapeHtml(title)}"`;
    if (/^[a-z]+:/.test(href)) {
      return `<a href="${escapeHtml(href)}"${tooltip} rel="noreferrer">${words}</a>`;
    }
    const address = this.#resolve(href);
    if (address !== null) return `<a href="${escapeHtml(address)}"${tooltip}>${words}</a>`;
    const path = href.split('#')[0] ?? '';
    const name = posix.basename(path);
    return words.includes(name) ? words : `${words} (<code>${escapeHtml(path)}</code>)`;
  }
}

/** A header without words names nothing. */
function headCell(cell: Tokens.TableCell, words: string): string {
  return words === '' ? '<td></td>' : `<th scope="col"${alignment(cell)}>${words}</th>`;
}

function alignment({ align }: Tokens.TableCell): string {
  return align ? ` class="${align}"` : '';
}

/** Words of a cell that make it a sentence, for which a narrow screen has no column. */
const SENTENCE_CHARACTERS = 50;

function isOfSentences(header: readonly Tokens.TableCell[], rows: readonly Tokens.TableCell[][]) {
  const isLong = rows.some((row) => row.some(({ text }) => text.length > SENTENCE_CHARACTERS));
  return header.length > 1 && isLong;
}

interface Parser {
  parseInline(tokens: Token[]): string;
}

/** Returns the words of Markdown, without its signs. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*```.*$/gm, '')
    .replace(/^\|[ :|-]+\|$/gm, '')
    .replace(/[`*]/g, '')
    .replaceAll('|', ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
