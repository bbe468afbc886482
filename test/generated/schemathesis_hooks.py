"""Gives the link from generate to validate the expressions that the document has in words alone."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    generate = raw_schema["paths"]["/api/v2/generate"]["post"]
    link = generate["responses"]["200"]["links"]["validate"]
    link["requestBody"] = {name: f"$response.body#/{name}" for name in ("key", "hash_proof")}
