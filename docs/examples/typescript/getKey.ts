import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const { key_id } = await phm.generate({ security_level: 256, labels: { env: 'test' } });
console.log(JSON.stringify(await phm.getKey(key_id)));
