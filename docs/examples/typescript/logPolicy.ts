// The transparency log is public: reading it needs no client.
const answer = await fetch('http://127.0.0.1:8080/log/policy');
process.stdout.write(await answer.text());
