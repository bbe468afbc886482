/** Keeps secrets out of what `console.log` and Node's `inspect` show of an object. */

/** Node calls the method of this name for what it shows. Other platforms do not know it. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * Hides these members of an object, and returns it. They are shown as their lengths; to read, to spread and to write as JSON
 * they stay what they are.
 */
export function hide<T extends object>(object: T, ...names: readonly (keyof T & string)[]): T {
  const inspect = (): object => {
    const shown = names.filter((name) => object[name] !== undefined);
    return {
      ...object,
      ...Object.fromEntries(shown.map((name) => [name, placeholder(object[name])])),
    };
  };
  return Object.defineProperty(object, INSPECT, { value: inspect, configurable: true });
}

/** Makes Node show an object as this text. */
export function showAs(object: object, text: string): object {
  return Object.defineProperty(object, INSPECT, { value: () => text });
}

function placeholder(value: unknown): object {
  const unit = typeof value === 'string' ? 'characters' : 'bytes';
  const { length } = value as { length: number };
  return showAs({}, `[hidden: ${length} ${unit}]`);
}
