/** Returns the stack frames of an error, one per line, without its message, which can hold anything. */
export function stackFrames({ stack }: Error): string[] {
  return stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
}
