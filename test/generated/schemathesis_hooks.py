"""Gives the links of generate the expressions that the document has in words alone."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    generate = raw_schema["paths"]["/api/v2/generate"]["post"]
    links = generate["responses"]["200"]["links"]
    links["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    links["validate"]["requestBody"] = {name: f"$response.body#/{name}" for name in ("key", "hash_proof")}
