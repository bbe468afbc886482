import json
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "http://127.0.0.1:8080/api/v2/generate",
    data=json.dumps({"security_level": 256}).encode(),
    headers={
        "X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG",
        "Content-Type": "application/json",
    },
)
try:
    with urlopen(request, timeout=30) as answer:
        print(json.dumps(json.load(answer)))
except HTTPError as error:
    sys.exit(error.read().decode())  # the problem: "detail" says what to do
