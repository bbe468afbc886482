/**
 * Ignores the second click of a double click. For buttons whose call counts against the quota: a second call would
 * discard the result of the first.
 */
export function ignoreDoubleClick(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault();
}
