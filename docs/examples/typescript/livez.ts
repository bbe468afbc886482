// A health check needs no client.
const answer = await fetch('http://127.0.0.1:8080/livez');
console.log(JSON.stringify(await answer.json()));
