/**
 * The routes' schemas in the form that generators of clients do best with.
 *
 * - A schema with a `title` stands once, in `components.schemas` under that name, and a `$ref` takes its place
 *   wherever it is used: generators make one type of it, with that name.
 * - An enumeration of whole numbers becomes a choice of constants. Generators make a class of numbered members of
 *   an `enum`; of constants they make a type that takes the numbers themselves.
 * - A constant `true` or `false` becomes a boolean, as the generator for Java makes an enumeration of strings of it.
 * - null beside a type becomes an alternative, so that an `enum` has values of one type.
 * - The default of a field stands in its description. Generators for TypeScript take a field that has a `default`
 *   for one that is always there, so that requests would have to name it.
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
    const { title, type } = schema;
    if (Array.isArray(type)) return this.replace(toAlternatives(schema, type));
    const replaced = toGeneratable(this.#replaceParts(schema));
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
      if (LISTS.includes(keyword)) return [keyword, this.#replaceAll(value as Schema[])];
      if (!MAPS.includes(keyword)) return [keyword, value];
      const fields = Object.entries(value as Record<string, Schema>);
      const replaced = fields.map(([name, field]) => [name, this.replace(describeDefault(field))]);
      return [keyword, Object.fromEntries(replaced)];
    });
    return Object.fromEntries(parts);
  }

  #replaceAll(schemas: readonly Schema[]): Schema[] {
    return schemas.map((schema) => this.replace(schema));
  }
}

/** One schema for each type, with what applies to it; what describes the field stays outside. */
function toAlternatives(schema: Schema, types: readonly unknown[]): Schema {
  const { description, enum: values, ...rest } = schema;
  const alternatives = types.map((type) => {
    if (type === 'null') return { type };
    const own = Array.isArray(values) && { enum: values.filter((value) => value !== null) };
    return { ...rest, type, ...own };
  });
  return { anyOf: alternatives, description };
}

function toGeneratable(schema: Schema): Schema {
  const { type, enum: values, const: constant, ...rest } = schema;
  if (type === 'boolean' && constant !== undefined) return { type, ...rest };
  if (type === 'number') return { ...schema, format: 'double' };
  if (type !== 'integer') return schema;
  if (!Array.isArray(values)) return 'maximum' in schema ? schema : { ...schema, format: 'int64' };
  // The titles are names for languages whose constants need one.
  const constants = values.map((value) => ({ const: value, title: `${schema.title}${value}` }));
  return { type, ...rest, oneOf: constants };
}

function describeDefault(schema: Schema): Schema {
  const { default: value, description = '', ...rest } = schema;
  if (value === undefined) return schema;
  return { ...rest, description: `${description}; default: ${value}` };
}

/** Schemas can also be `true` or `false`. */
function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
