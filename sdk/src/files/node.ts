/** Node's modules, where they are there. A static import would break the bundles of pages. */

interface Process {
  readonly getBuiltinModule?: (name: string) => unknown;
}

/** Returns a module of Node 20.16, 22.3 or newer by its name, such as `crypto`, or undefined. */
export function nodeModule<Module>(name: string): Module | undefined {
  const { process } = globalThis as { process?: Process };
  return process?.getBuiltinModule?.(`node:${name}`) as Module | undefined;
}
