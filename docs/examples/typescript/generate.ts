import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const key = await phm.generate({ security_level: 256 });
console.log(JSON.stringify(key));
