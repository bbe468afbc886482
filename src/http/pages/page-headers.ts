/** Headers of what browsers show: the dashboard and the documentation. */

/**
 * A page loads from this server alone, runs no inline script or style, sends no form, and is framed
 * nowhere.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/**
 * `Strict-Transport-Security` is not among them: it binds every port of a host name, so it is for
 * whoever owns the name to send.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
};
