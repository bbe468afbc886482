"""Says what the document has in words alone: the expressions of links, and what a public key is."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    paths, schemas = raw_schema["paths"], raw_schema["components"]["schemas"]
    links = paths["/api/v2/generate"]["post"]["responses"]["200"]["links"]
    links["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    links["validate"]["requestBody"] = {name: f"$response.body#/{name}" for name in ("key", "hash_proof")}
    sealed = paths["/api/v2/generate/sealed"]["post"]
    sealed["responses"]["200"]["links"]["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    seal_to = sealed["requestBody"]["content"]["application/json"]["examples"]["publicKey"]["value"]["seal_to"]
    fields = schemas["SealTo"]["properties"]
    fields["public_key"] = {"const": seal_to["public_key"]}
    fields["suite"] = {"enum": [seal_to["suite"], None]}
    del fields["recipient"]
    schemas["SealTo"]["required"] = ["public_key"]
