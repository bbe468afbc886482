import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const { key_id } = await phm.generate({ security_level: 256, include: ['receipt'] });
// The receipt is already in the response, unless it took more than 2 seconds.
console.log(JSON.stringify(await phm.receipt(key_id)));
