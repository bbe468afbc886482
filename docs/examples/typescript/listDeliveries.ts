import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
// The operator has registered the recipient: phm recipient add demo --public-key docs/examples/sealed/demo.recipient
const id = crypto.randomUUID();
await phm.generateSealed({
  security_level: 256,
  seal_to: { recipient: 'demo' },
  deliver: { id, for: '1h' },
});
console.log(JSON.stringify(await phm.deliveries.list({ recipient: 'demo', wait: 30 })));
