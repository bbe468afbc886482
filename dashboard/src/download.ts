/** Hands a JSON document to the browser as a file. The address that carries it lives for one click. */
export function saveJson(name: string, value: unknown): void {
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // After the click has been dealt with: some browsers read the address only then.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
