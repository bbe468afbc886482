/** Ends with 0 when the server in this container answers /livez with 200, and with 1 otherwise. */
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

const { PHM_PORT, PHM_TLS_CERT_FILE } = process.env;
const get = PHM_TLS_CERT_FILE ? httpsGet : httpGet;
// The certificate is made out to the name that clients use, which is not the loopback address.
const options = { host: '127.0.0.1', port: PHM_PORT, path: '/livez', rejectUnauthorized: false };
const request = get(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
request.on('error', () => process.exit(1));
