import json
from urllib.request import Request, urlopen


def post(path, body):
    request = Request(
        "http://127.0.0.1:8080" + path,
        data=json.dumps(body).encode(),
        headers={
            "X-API-Key": "phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG",
            "Content-Type": "application/json",
        },
    )
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


key = post("/api/v2/generate", {"security_level": 256})["key"]
print(json.dumps(post("/api/v2/validate", {"key": key})))
