/**
 * Patterns of bytes by which files are recognised. Tokens follow each other: `1f` a byte, `00-1f` a range, `00|02` a
 * choice, `??` any byte, `'RIFF'` characters, `@257` the place of the next token.
 */

/** The bytes that a place of the file may have. */
interface Place {
  readonly at: number;
  readonly allowed: readonly (readonly [from: number, to: number])[];
}

export type Pattern = readonly Place[];

const TOKENS = /'[^']*'|\S+/g;

export function parsePattern(text: string): Pattern {
  const places: Place[] = [];
  let at = 0;
  for (const token of text.match(TOKENS) ?? []) {
    if (token.startsWith('@')) at = Number(token.slice(1));
    else if (token === '??') at++;
    else if (token.startsWith("'")) {
      for (const character of token.slice(1, -1)) {
        const code = character.charCodeAt(0);
        places.push({ at: at++, allowed: [[code, code]] });
      }
    } else places.push({ at: at++, allowed: token.split('|').map(rangeOf) });
  }
  return places;
}

function rangeOf(text: string): [number, number] {
  const [from, to = from] = text.split('-').map((digits) => Number.parseInt(digits, 16)) as [
    number,
    number?,
  ];
  return [from, to];
}

export function fits(pattern: Pattern, head: Uint8Array): boolean {
  return pattern.every(({ at, allowed }) => {
    const byte = head[at];
    return byte !== undefined && allowed.some(([from, to]) => byte >= from && byte <= to);
  });
}

/** Returns the probability that random bytes fit. */
export function oddsOf(pattern: Pattern): number {
  return pattern.reduce((odds, { allowed }) => {
    const values = allowed.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    return (odds * values) / 256;
  }, 1);
}
