/** The methods that metrics and traces name. Any word may stand where a request has its method, so the others share one label. */
export const METHODS: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
];
