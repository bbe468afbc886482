/** Headers of pages: the dashboard and the documentation. */

/** A page loads files only from this server, has no inline script or style, sends no form, and cannot be framed. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Without `Strict-Transport-Security`: it binds every port of a host name, so the owner of the name must decide. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
};
