curl -s http://127.0.0.1:8080/api/v2/generate \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' \
  -H 'Content-Type: application/json' \
  -d '{"security_level": 256}'
