/** Suggestions for misspelt names: "did you mean …?". */

/** Longest name that is compared, so that the work is bounded. */
const MAX_LENGTH = 40;

/** Shortest name that is searched for inside others. */
const MIN_PART = 4;

/** Returns the known name that an unknown one most likely means, or undefined. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = simplify(name);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const score = difference(plain, simplify(candidate));
    if (score >= least) continue;
    nearest = candidate;
    least = score;
  }
  return nearest;
}

/** `securityLevel`, `security-level` and `Security_Level` are spellings of one name. */
function simplify(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Prefers typing errors, up to a third of the name, over a name that contains the other. */
function difference(name: string, candidate: string): number {
  const errors = editDistance(name, candidate);
  if (errors <= Math.floor(name.length / 3)) return errors;
  const [short, long] = name.length < candidate.length ? [name, candidate] : [candidate, name];
  const isPart = short.length >= MIN_PART && long.includes(short);
  return isPart ? MAX_LENGTH + long.length - short.length : Number.POSITIVE_INFINITY;
}

/** Levenshtein distance: insertions, deletions and replacements of one letter. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
