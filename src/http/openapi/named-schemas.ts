/**
 * Rewrites the schemas of the routes for client generators.
 *
 * - A schema with a `title` moves to `components.schemas`, and a `$ref` replaces it everywhere. Generators make one
 *   type of it, with that name.
 * - An enumeration of whole numbers becomes a choice of constants. From an `enum` generators make a class with numbered
 *   members; from constants they make a type with the numbers themselves.
 * - A constant `true` or `false` becomes a boolean, because the generator for Java makes it an enumeration of strings.
 * - null in a list of types becomes an alternative, so that the values of an `enum` have one type.
 * - The default of a field moves to its description. Generators for TypeScript treat a field with a `default` as
 *   required, so requests would have to name it.
 * - Numbers have a width: without one, `number` is 32 bits in Go, and `integer` in Java.
 */
import { isDeepStrictEqual } from 'node:util';

export type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties'];

/** Rewrites the schemas of one document and collects the named ones. */
export class NamedSchemas {
  readonly #byName = new Map<string, Schema>();

  /** The named schemas, in alphabetical order. */
  get all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns a schema in which references replace all named schemas; if it has a name, only the reference. */
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

/** Returns one alternative for each type. The description of the field stays outside. */
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
  // Titles for languages in which constants need a name.
  const constants = values.map((value) => ({ const: value, title: `${schema.title}${value}` }));
  return { type, ...rest, oneOf: constants };
}

function describeDefault(schema: Schema): Schema {
  const { default: value, description = '', ...rest } = schema;
  if (value === undefined) return schema;
  return { ...rest, description: `${description}; default: ${value}` };
}

/** Returns false for the schemas `true` and `false`. */
function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
