/** Finds repeated members in a text that is known to be JSON: parsers differ in the value that they take. */

interface OpenObject {
  readonly names: Set<string>;
  repeated?: string;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Returns the first repeated name of the object that ends first, as the Python client does; or undefined. Takes a time that
 * grows with the length of the text, whatever it holds.
 */
export function repeatedName(json: string): string | undefined {
  /** Open objects and arrays; null for an array. */
  const open: (OpenObject | null)[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '{') open.push({ names: new Set() });
    else if (character === '[') open.push(null);
    else if (character === '}' || character === ']') {
      const closed = open.pop();
      if (closed?.repeated !== undefined) return closed.repeated;
    } else if (character === '"') {
      const end = endOfString(json, at);
      if (isName(json, end)) note(open.at(-1), JSON.parse(json.slice(at, end)) as string);
      at = end - 1;
    }
  }
  return undefined;
}

function note(object: OpenObject | null | undefined, name: string): void {
  if (object?.names.has(name)) object.repeated ??= name;
  object?.names.add(name);
}

/** Returns the place after the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return json.length;
}

function isName(json: string, end: number): boolean {
  let at = end;
  while (SPACES.has(json.charCodeAt(at))) at += 1;
  return json.charCodeAt(at) === COLON;
}
