"""Says what the document has in words alone: the expressions of links, what a public key is, and what labels are."""

import os

import schemathesis

# The ID of a delivery that nobody has.
UNKNOWN = "3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    paths = raw_schema["paths"]
    links = paths["/api/v2/generate"]["post"]["responses"]["200"]["links"]
    links["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    links["validate"]["requestBody"] = {name: f"$response.body#/{name}" for name in ("key", "hash_proof")}
    sealed = paths["/api/v2/generate/sealed"]["post"]
    sealed["responses"]["200"]["links"]["receipt"]["parameters"] = {"key_id": "$response.body#/key_id"}
    listed = paths["/api/v2/keys"]["get"]["responses"]["200"]["links"]
    listed["getKey"]["parameters"] = {"key_id": "$response.body#/keys/0/key_id"}
    examples = sealed["requestBody"]["content"]["application/json"]["examples"]
    fix_recipient(raw_schema["components"]["schemas"]["SealTo"], examples["publicKey"]["value"]["seal_to"])
    fix_commitment(raw_schema["components"]["schemas"]["ReceiptRequest"]["properties"])
    # A list waits a second at most.
    parameter(paths["/api/v2/deliveries"], "wait")["schema"]["maximum"] = 1
    fix_deliveries(raw_schema["components"]["schemas"]["DeliveriesRequest"]["properties"])
    for schema in raw_schema["components"]["schemas"].values():
        fields = schema.get("properties", {})
        if {"security_level", "labels", "expires_at"} <= fields.keys() and "key_id" not in fields:
            fix_ends(fields)


def fix_ends(fields):
    """Says what labels are, as src/keys/labels.ts does, and names a time in the future."""
    controls = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    fields["labels"] = {
        "type": ["object", "null"],
        "propertyNames": {"pattern": "^[a-z0-9][a-z0-9_.-]{0,31}$"},
        "additionalProperties": {"type": "string", "pattern": f"^[^{controls}]{{0,64}}$"},
        "maxProperties": 16,
    }
    fields["expires_at"] = {"enum": ["2999-01-31T12:00:00Z", None]}


def parameter(path, name):
    """Returns a parameter of the GET request of a path."""
    return next(one for one in path["get"]["parameters"] if one.get("name") == name)


def fix_deliveries(fields):
    """Names the recipient and the delivery of the test, and one that nobody has."""
    fields["recipient"] = {"const": "fuzz"}
    ids = [os.environ["PHM_TEST_DELIVERY_ID"], UNKNOWN]
    fields["ids"] = {"enum": [[ids[0]], ids, ids[::-1]]}


def fix_commitment(fields):
    """Names the key of the test, of which alone the run knows the commitment, and another one."""
    fields["key_id"] = {"enum": [os.environ["PHM_TEST_KEY_ID"], "phm_1"]}
    fields["key_commitment"] = {"const": os.environ["PHM_TEST_KEY_COMMITMENT"]}


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
