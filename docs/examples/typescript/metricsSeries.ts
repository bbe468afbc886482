import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
const series = await phm.metricsSeries({ hours: 1, step: 5 });
console.log(JSON.stringify(series));
