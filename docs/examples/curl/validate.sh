KEY=$(curl -s http://127.0.0.1:8080/api/v2/generate \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' -H 'Content-Type: application/json' \
  -d '{"security_level": 256}' | sed 's/.*"key":"\([0-9a-f]*\)".*/\1/')

# Pass keys on standard input: every user of the machine can read arguments. The demo key is public.
printf '{"key": "%s"}' "$KEY" | curl -s http://127.0.0.1:8080/api/v2/validate \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' -H 'Content-Type: application/json' -d @-
