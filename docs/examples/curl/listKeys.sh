curl -s 'http://127.0.0.1:8080/api/v2/keys?status=active&limit=10' \
  -H 'X-API-Key: phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG'
