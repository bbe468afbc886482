/** The methods of every path that has a route, for 405 responses and preflights. */

import { nearestName } from './wire/nearest-name.ts';

/** Part of a route's path that stands for one segment, or, at the end, for any number of them. */
const VARIABLE = /:\w+|\*$/g;

export class PathMethods {
  readonly #fixed = new Map<string, Set<string>>();
  readonly #variable = new Map<string, { readonly form: RegExp; readonly methods: Set<string> }>();

  /** Adds a method of a route. */
  add(path: string, method: string): void {
    this.#methodsOf(path).add(method);
  }

  /** Returns the methods of the routes that match a path, sorted; undefined if there are none. */
  find(path: string): string[] | undefined {
    const known = this.#fixed.get(path) ?? this.#match(path);
    return known && [...known].sort();
  }

  /** Returns what a 404 says about a path: the path that was probably meant. It repeats no part of the request. */
  advice(path: string): { readonly detail?: string } {
    const meant = this.#meant(path);
    return meant === undefined
      ? {}
      : { detail: `There is no endpoint at this path: did you mean ${meant}?` };
  }

  #meant(path: string): string | undefined {
    for (const other of [path, path.toLowerCase()].flatMap(variants)) {
      if (this.#fixed.has(other)) return other;
      for (const [known, { form }] of this.#variable) {
        if (!known.endsWith('*') && form.test(other)) return known.replaceAll(/:(\w+)/g, '{$1}');
      }
    }
    const apiPaths = [...this.#fixed.keys()].filter((known) => known.includes('/api/'));
    return path.includes('/api/') ? nearestName(path, apiPaths) : undefined;
  }

  #methodsOf(path: string): Set<string> {
    const known = this.#fixed.get(path) ?? this.#variable.get(path)?.methods;
    if (known) return known;
    const methods = new Set<string>();
    if (path.search(VARIABLE) === -1) this.#fixed.set(path, methods);
    else this.#variable.set(path, { form: formOf(path), methods });
    return methods;
  }

  #match(path: string): Set<string> | undefined {
    for (const { form, methods } of this.#variable.values()) if (form.test(path)) return methods;
    return undefined;
  }
}

/** Usual mistakes: a slash at the end, two slashes, another version. */
function variants(path: string): string[] {
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');
  return [plain, plain.replace(/\/api\/(?:v\d+\/)?/, '/api/v2/')];
}

function formOf(path: string): RegExp {
  const fixed = path.split(VARIABLE).map((part) => part.replace(/[.+^${}()|[\]\\]/g, '\\$&'));
  const [first = '', ...rest] = fixed;
  const variables = path.match(VARIABLE) ?? [];
  const parts = rest.map((part, i) => `${variables[i] === '*' ? '.*' : '[^/]+'}${part}`);
  return new RegExp(`^${first}${parts.join('')}$`);
}
