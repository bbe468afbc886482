import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const metrics = await phm.metrics({ hours: 24 });
console.log(JSON.stringify(metrics));
