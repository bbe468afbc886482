/** Tables of the fields of a schema: name, type, whether required, default, limits and text. */
import { html, type Markup, NOTHING } from './html.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Renders a description, which is Markdown. */
type Words = (text: string) => Markup;

/** Depth to which objects within objects are shown. */
const DEEPEST = 3;

export class FieldTables {
  readonly #schemas: Schemas;
  readonly #words: Words;
  readonly #isAnswer: boolean;

  /** In an answer, members that may be absent are marked; in a request, those that are required. */
  constructor(schemas: Schemas, words: Words, { isAnswer = false } = {}) {
    this.#schemas = schemas;
    this.#words = words;
    this.#isAnswer = isAnswer;
  }

  /** Returns the rows of an object's members, each with those of its own members folded below. */
  fieldsOf(schema: Schema, prefix: string, depth = 1): Markup {
    const { properties = {}, required = [] } = this.#objectOf(schema);
    const rows = Object.entries(properties).map(([name, member]) =>
      this.row(name, member, required.includes(name), `${prefix}${name}`, depth),
    );
    return rows.length === 0 ? NOTHING : html`<ul class="fields">${rows}</ul>`;
  }

  row(name: string, schema: Schema, isRequired: boolean, id: string, depth = 1): Markup {
    const { plain, isNullable } = this.#withoutNull(schema);
    const description = schema.description ?? plain.description ?? '';
    const [text, byDefault] = splitDefault(description, schema.default ?? plain.default);
    const facts = [
      html`<span class="type">${this.#typeOf(plain)}${isNullable ? ' or null' : ''}</span>`,
      this.#presence(isRequired),
      byDefault === undefined ? NOTHING : html`<span>default <code>${byDefault}</code></span>`,
      ...limitsOf(plain).map((limit) => html`<span>${limit}</span>`),
    ];
    return html`<li id="${id}"><div class="field"><code class="name">${name}</code> ${facts}</div>
${text === '' ? NOTHING : this.#words(text)}${this.#valuesOf(plain)}${this.#inner(plain, id, depth)}</li>`;
  }

  #presence(isRequired: boolean): Markup {
    if (this.#isAnswer) return isRequired ? NOTHING : html`<span>not always present</span>`;
    return isRequired ? html`<span class="required">required</span>` : NOTHING;
  }

  #inner(schema: Schema, id: string, depth: number): Markup {
    const inner = schema.items ? this.#resolve(schema.items) : schema;
    const names = Object.keys(this.#objectOf(inner).properties ?? {});
    if (names.length === 0 || depth >= DEEPEST) return NOTHING;
    return html`<details class="members"><summary>${names.length} ${names.length === 1 ? 'member' : 'members'}</summary>${this.fieldsOf(inner, `${id}.`, depth + 1)}</details>`;
  }

  #resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    if (name === undefined) return schema;
    const found = this.#schemas[name];
    if (!found) throw new Error(`the document has no schema ${name}`);
    return found;
  }

  /** Returns the object that a schema describes, or the first of several. */
  #objectOf(schema: Schema): Schema {
    const { plain } = this.#withoutNull(schema);
    if (plain.properties) return plain;
    const [first] = plain.oneOf ?? plain.anyOf ?? [];
    return first?.$ref ? this.#objectOf(first) : plain;
  }

  #withoutNull(schema: Schema): { plain: Schema; isNullable: boolean } {
    const found = this.#resolve(schema);
    const others = found.anyOf?.filter(({ type }) => type !== 'null');
    if (!others || others.length === found.anyOf?.length || others.length !== 1) {
      return { plain: found, isNullable: false };
    }
    return { plain: this.#resolve(others[0] as Schema), isNullable: true };
  }

  #typeOf(schema: Schema): string {
    const { type, items, format, oneOf, anyOf } = schema;
    if (type === 'array') {
      return items ? `array of ${this.#typeOf(this.#withoutNull(items).plain)}` : 'array';
    }
    if (type === 'string' && format) return format;
    if (type) return type;
    const variants = (oneOf ?? anyOf ?? []).map((one) => this.#typeOf(this.#resolve(one)));
    return [...new Set(variants)].join(' or ') || 'any';
  }

  /** Returns the allowed values, if the schema names them. */
  #valuesOf(schema: Schema): Markup {
    const of = (one: Schema) => one.enum ?? one.oneOf?.map((variant) => variant.const) ?? [];
    const values = of(schema.items ? this.#resolve(schema.items) : schema).filter(
      (value) => value !== undefined,
    );
    if (values.length === 0) return NOTHING;
    const list = values.map((value) => html`<code>${String(value)}</code> `);
    if (values.length <= 8) return html`<p class="values">One of ${list}</p>`;
    return html`<details class="members"><summary>One of ${values.length} values</summary><p class="values">${list}</p></details>`;
  }
}

/** Returns a text without its "default: …", and the default. */
function splitDefault(text: string, byDefault: unknown): [text: string, byDefault?: string] {
  const [said, value] = /; default: ([\w.-]+)$/.exec(text) ?? [];
  const shown = byDefault === undefined ? value : JSON.stringify(byDefault);
  return shown === undefined ? [text] : [said ? text.slice(0, -said.length) : text, shown];
}

function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const range = (from: number | undefined, to: number | undefined, unit: string) => {
    const count = (value: number) => value.toLocaleString('en-US');
    if (from !== undefined && to !== undefined) return [`${count(from)} to ${count(to)}${unit}`];
    if (to !== undefined) return [`at most ${count(to)}${unit}`];
    return from === undefined ? [] : [`at least ${count(from)}${unit}`];
  };
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
  ];
}
