import json
import uuid
from urllib.request import Request, urlopen

HEADERS = {
    "X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG",
    "Content-Type": "application/json",
}


def send(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = Request("http://127.0.0.1:8080/api/v2" + path, data=data, headers=HEADERS)
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


# The operator has registered the recipient "demo": phm recipient add demo --public-key …
delivery = str(uuid.uuid4())
body = {"security_level": 256, "seal_to": {"recipient": "demo"}}
send("/generate/sealed", body | {"deliver": {"id": delivery, "for": "1h"}})
print(json.dumps(send("/deliveries/" + delivery)))
