"""Says what the document has in words alone: the expressions of links, and what a public key is."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    paths = raw_schema["paths"]
    links = paths["/api/v2/generate"]["post"]["responses"]["200"]["links"]
    links["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    links["validate"]["requestBody"] = {name: f"$response.body#/{name}" for name in ("key", "hash_proof")}
    sealed = paths["/api/v2/generate/sealed"]["post"]
    sealed["responses"]["200"]["links"]["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    examples = sealed["requestBody"]["content"]["application/json"]["examples"]
    fix_recipient(raw_schema["components"]["schemas"]["SealTo"], examples["publicKey"]["value"]["seal_to"])


def fix_recipient(schema, seal_to):
    """Names the only public key that the run knows."""
    fields = schema["properties"]
    fields["public_key"] = {"const": seal_to["public_key"]}
    fields["suite"] = {"enum": [seal_to["suite"], None]}
    del fields["recipient"]
    schema["required"] = ["public_key"]


@schemathesis.hook
def map_body(context, body):
    """Keeps batches small, so that they take neither the quota nor the time of the run."""
    count = body.get("count") if isinstance(body, dict) else None
    if type(count) is int and 1 <= count <= 1000:
        return {**body, "count": 1 + count % 5}
    return body
