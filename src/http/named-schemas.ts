/**
 * The routes' schemas in the form that generators of clients do best with.
 *
 * - A schema with a `title` stands once, in `components.schemas` under that name, and a `$ref` takes its place
 *   wherever it is used: generators make one type of it, with that name.
 * - An enumeration of whole numbers becomes a choice of constants. Generators make a class of numbered members of
 *   an `enum`; of constants they make a type that takes the numbers themselves.
 * - Numbers say how wide they are: `number` alone is 32 bits in Go, and `integer` in Java.
 */
import { isDeepStrictEqual } from 'node:util';

export type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties'];

/** Rewrites the schemas of one document, and gathers the named ones. */
export class NamedSchemas {
  readonly #byName = new Map<string, Schema>();

  /** The named schemas, in alphabetical order. */
  get all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema with references in the place of what has a name; its own name included. */
  replace(schema: Schema): Schema {
    const { title } = schema;
    const replaced = this.#replaceParts(schema);
    if (typeof title !== 'string') return replaced;
    const known = this.#byName.get(title);
    if (known && !isDeepStrictEqual(known, replaced)) {
      throw new Error(`two schemas that differ have the title ${title}`);
    }
    this.#byName.set(title, replaced);
    return { $ref: `#/components/schemas/${title}` };
  }

  #replaceParts(schema: Schema): Schema {
    const parts = Object.entries(schema).map(([keyword, value]) => {
      if (ONE.includes(keyword) && isSchema(value)) return [keyword, this.replace(value)];
      if (LISTS.includes(keyword))
        return [keyword, (value as Schema[]).map((s) => this.replace(s))];
      if (MAPS.includes(keyword)) {
        const entries = Object.entries(value as Record<string, Schema>);
        return [keyword, Object.fromEntries(entries.map(([name, s]) => [name, this.replace(s)]))];
      }
      return [keyword, value];
    });
    return withFormat(toConstants(Object.fromEntries(parts)));
  }
}

function toConstants(schema: Schema): Schema {
  const { enum: values, ...rest } = schema;
  if (schema.type !== 'integer' || !Array.isArray(values)) return schema;
  // The titles are names for languages whose constants need one.
  const constants = values.map((value) => ({ const: value, title: `${schema.title}${value}` }));
  return { ...rest, oneOf: constants };
}

function withFormat(schema: Schema): Schema {
  if (schema.type === 'number') return { ...schema, format: 'double' };
  const isCount = schema.type === 'integer' && !('maximum' in schema) && !('oneOf' in schema);
  return isCount ? { ...schema, format: 'int64' } : schema;
}

/** Schemas can also be `true` or `false`. */
function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
