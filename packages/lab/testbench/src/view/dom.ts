/** Makes elements. Text is never read as markup. */

type Properties = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns an element. Properties that are false or undefined are left out; `true` is an attribute without value. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? '' : String(value));
  }
  made.append(...content);
  return made;
}

/** Returns the element of the page with this id. */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

/** Returns names and values for a `dl`. */
export function pairs(rows: readonly (readonly [string, string])[]): Node[] {
  return rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]);
}

/** Lets the browser draw and answer before more work. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Returns a link that saves a file. */
export function download(file: Blob, name: string, label: string): HTMLAnchorElement {
  const href = URL.createObjectURL(file);
  return element('a', { class: 'button', href, download: name }, label);
}
