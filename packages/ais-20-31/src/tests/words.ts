/** Returns `width` bits, the most significant first, as a number; a double holds up to 53 exactly. */
export function wordAt(bits: Uint8Array, start: number, width: number): number {
  let word = 0;
  for (let i = start; i < start + width; i++) word = 2 * word + bits[i];
  return word;
}
