import { readFileSync } from 'node:fs';
import { PhmClient, parseRecipient, sealTo } from 'phm-client';

const baseUrl = 'http://127.0.0.1:8080';
const sender = new PhmClient({
  baseUrl,
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const recipient = parseRecipient(readFileSync('docs/examples/sealed/demo.recipient', 'utf8'));
const { sealed_key } = await sender.generateSealed({
  security_level: 256,
  seal_to: sealTo(recipient),
});
// The header is not encrypted. The recipient asks for the receipt with it, without an API key.
const header = JSON.parse(Buffer.from(sealed_key.header, 'base64url').toString());
const phm = new PhmClient({ baseUrl });
console.log(JSON.stringify(await phm.receiptByCommitment(header.key_id, header.key_commitment)));
