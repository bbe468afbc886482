/**
 * Builds the JSON Schemas of requests and responses: the builders of the package `typebox` that they use, with its types
 * and results. The package has 373 modules, and loading them took 80 ms of a server's start (bench/start.ts). The
 * readers of entropy sources use the package itself.
 */
import type Typebox from 'typebox';
import type { TProperties, TSchema } from 'typebox';

type Options = Readonly<Record<string, unknown>>;

/** Properties of the package's schemas that no JSON shows. */
const OPTIONAL = '~optional';

/** Adds a property that is not written. */
function mark<T extends object>(schema: T, name: string): T {
  return Object.defineProperty(schema, name, { value: true });
}

const BUILDERS = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: (properties: TProperties, options?: Options) => {
    const required = Object.keys(properties).filter(
      (name) => !(OPTIONAL in (properties[name] ?? {})),
    );
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties,
      ...options,
    };
  },
  Optional: (schema: TSchema) => mark({ ...schema }, OPTIONAL),
  /** Properties of any name. */
  Record: (_names: TSchema, values: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': values },
    ...options,
  }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  /** A schema whose type the caller gives. */
  Unsafe: (schema: Options) => ({ ...schema }),
};

export const Type = BUILDERS as unknown as Pick<typeof Typebox, keyof typeof BUILDERS>;
