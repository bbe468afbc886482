"""Validates lists of contents, CycloneDX by its schema and SPDX by its rules, and prints the number of components."""

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

faults = []
for name in sys.argv[1:]:
    if name.endswith(".cdx.json"):
        text = Path(name).read_text()
        validator = JsonStrictValidator(SchemaVersion.V1_5)
        found = validator.validate_str(text, all_errors=True) or []
        faults += [f"{name}: {str(error)[:500]}" for error in found]
    else:
        document = parse_file(name)
        found = validate_full_spdx_document(document)
        faults += [f"{name}: {message.validation_message}" for message in found]
        print(Path(name).name, len(document.packages))
sys.exit("\n".join(faults) or 0)
