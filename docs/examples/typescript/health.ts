import { PhmClient } from 'phm-client';

const phm = new PhmClient({ baseUrl: 'http://127.0.0.1:8080' });
const health = await phm.health();
console.log(JSON.stringify(health));
