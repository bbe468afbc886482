import json
from urllib.request import Request, urlopen

request = Request(
    "http://127.0.0.1:8080/api/v2/metrics/randomness?keys=100",
    headers={"X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG"},
)
with urlopen(request, timeout=30) as answer:
    print(json.dumps(json.load(answer)))
