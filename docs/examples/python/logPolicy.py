from urllib.request import urlopen

with urlopen("http://127.0.0.1:8080/log/policy", timeout=30) as answer:
    print(answer.read().decode(), end="")
