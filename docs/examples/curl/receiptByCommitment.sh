# The sender gets a sealed key. Its header is not encrypted, and has the key's ID and commitment. It has no padding: base64
# decodes it and complains.
HEADER=$(curl -s http://127.0.0.1:8080/api/v2/generate/sealed \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG' -H 'Content-Type: application/json' \
  -d "{\"security_level\": 256, \"seal_to\": $(cat docs/examples/sealed/demo.recipient)}" |
  sed 's/.*"header":"\([^"]*\)".*/\1/' | tr -- '-_' '+/' |
  { base64 -d 2>/dev/null || true; })
KEY_ID=$(echo "$HEADER" | sed 's/.*"key_id":"\([^"]*\)".*/\1/')
COMMITMENT=$(echo "$HEADER" | sed 's/.*"key_commitment":"\([^"]*\)".*/\1/')

# The recipient asks for the receipt, without an API key.
curl -s http://127.0.0.1:8080/api/v2/receipts -H 'Content-Type: application/json' \
  -d "{\"key_id\": \"$KEY_ID\", \"key_commitment\": \"$COMMITMENT\", \"wait\": 5}"
