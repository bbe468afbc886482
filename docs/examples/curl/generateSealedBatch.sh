curl -s http://127.0.0.1:8080/api/v2/generate/sealed/batch \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' \
  -H 'Content-Type: application/json' \
  -H "Idempotency-Key: $(openssl rand -hex 16)" \
  -d "{\"security_level\": 256, \"count\": 2, \"seal_to\": $(cat docs/examples/sealed/demo.recipient)}"
