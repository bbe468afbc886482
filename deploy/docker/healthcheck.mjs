/**
 * Exits with code 0 if the server in this container answers /livez with 200, otherwise with 1. It runs every ten seconds, so it
 * is JavaScript, and imports no HTTP: as TypeScript with imports, Node takes twice the processor time (src/node-http.ts).
 */
const { PHM_PORT, PHM_TLS_CERT_FILE } = process.env;
const { get } = process.getBuiltinModule(PHM_TLS_CERT_FILE ? 'node:https' : 'node:http');
// The certificate names the host that clients use, not the loopback address.
const options = {
  host: '127.0.0.1',
  port: PHM_PORT,
  path: '/livez',
  rejectUnauthorized: false,
  // Each profile of PHM_TLS_PROFILE accepts one of these.
  ecdhCurve: 'X25519MLKEM768:SecP384r1MLKEM1024:MLKEM1024',
};
const request = get(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
request.on('error', () => process.exit(1));
