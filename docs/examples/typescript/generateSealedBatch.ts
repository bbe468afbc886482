import { readFileSync } from 'node:fs';
import { PhmClient, parseRecipient, sealTo } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const recipient = parseRecipient(readFileSync('docs/examples/sealed/demo.recipient', 'utf8'));
const order = { security_level: 256, seal_to: sealTo(recipient), count: 2 } as const;
for await (const key of phm.generateSealedBatch(order)) console.log(JSON.stringify(key));
