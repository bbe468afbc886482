import json
from urllib.request import Request, urlopen

HEADERS = {
    "X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG",
    "Content-Type": "application/json",
}


def send(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = Request("http://127.0.0.1:8080" + path, data=data, headers=HEADERS)
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


generated = send("/api/v2/generate", {"security_level": 256, "labels": {"env": "test"}})
path = "/api/v2/keys/" + generated["key_id"]
print(json.dumps(send(path)))
