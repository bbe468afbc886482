KEY=$(curl -s http://127.0.0.1:8080/api/v2/generate \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' -H 'Content-Type: application/json' \
  -d '{"security_level": 256}' | sed 's/.*"key":"\([0-9a-f]*\)".*/\1/')

# The body comes from standard input: arguments can be read by every user of the machine.
printf '{"key": "%s"}' "$KEY" | curl -s http://127.0.0.1:8080/api/v2/validate \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' -H 'Content-Type: application/json' -d @-
