import json
import sys
import uuid
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

recipient = json.loads(Path("docs/examples/sealed/demo.recipient").read_text())
request = Request(
    "http://127.0.0.1:8080/api/v2/generate/sealed/batch",
    data=json.dumps({"security_level": 256, "count": 2, "seal_to": recipient}).encode(),
    headers={
        "X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),  # store it, and send it again if the answer is lost
    },
)
try:
    with urlopen(request, timeout=30) as answer:
        print(json.dumps(json.load(answer)))
except HTTPError as error:
    sys.exit(error.read().decode())  # the problem: "detail" says what to do
