import base64
import json
from pathlib import Path
from urllib.request import Request, urlopen

API_KEY = {"X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG"}


def post(path, body, headers={}):
    request = Request(
        "http://127.0.0.1:8080" + path,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **headers},
    )
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


# The sender gets a sealed key. Its header is not encrypted, and has the key's ID and commitment.
recipient = json.loads(Path("docs/examples/sealed/demo.recipient").read_text())
order = {"security_level": 256, "seal_to": recipient}
header = post("/api/v2/generate/sealed", order, API_KEY)["sealed_key"]["header"]
names = json.loads(base64.urlsafe_b64decode(header + "=="))

# The recipient asks for the receipt, without an API key.
question = {"key_id": names["key_id"], "key_commitment": names["key_commitment"], "wait": 5}
print(json.dumps(post("/api/v2/receipts", question)))
