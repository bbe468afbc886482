import json
from urllib.request import urlopen

with urlopen("http://127.0.0.1:8080/readyz", timeout=30) as answer:
    print(json.dumps(json.load(answer)))
