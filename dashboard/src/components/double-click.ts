/**
 * For buttons whose call counts against the quota: the second click of a double click would make another
 * one, and throw away what the first has brought.
 */
export function ignoreDoubleClick(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault();
}
