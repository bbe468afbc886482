import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: 'http://127.0.0.1:8080',
  apiKey: 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG',
});
// One page. `for await (const key of phm.listKeys(…))` reads all of them.
console.log(JSON.stringify(await phm.keyPage({ status: 'active', limit: 10 })));
