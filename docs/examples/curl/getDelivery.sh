# The operator has registered the recipient: phm recipient add demo --public-key docs/examples/sealed/demo.recipient
ID=$(openssl rand -hex 16 | sed 's/^\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)/\1-\2-\3-\4-/')
curl -s http://127.0.0.1:8080/api/v2/generate/sealed -o /dev/null \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' -H 'Content-Type: application/json' \
  -d "{\"security_level\": 256, \"seal_to\": {\"recipient\": \"demo\"}, \"deliver\": {\"id\": \"$ID\", \"for\": \"1h\"}}"

curl -s "http://127.0.0.1:8080/api/v2/deliveries/$ID" \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG'
