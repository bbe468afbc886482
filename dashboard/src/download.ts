/** Saves a JSON document as a file. Its object URL exists only for one click. */
export function saveJson(name: string, value: unknown): void {
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // After the click is handled: some browsers read the URL only then.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
