# Generates a key that is sealed to a new recipient, opens it, and checks its receipt.
import os
from urllib.request import urlopen

from phm_client import PhmClient, new_recipient, open_sealed_key

url = os.environ.get("PHM_URL", "http://127.0.0.1:8080")
with PhmClient(url, os.environ["PHM_API_KEY"]) as phm:
    # The recipient keeps this and gives away only the public key. format_recipient_key writes it
    # as a file.
    recipient_key = new_recipient()
    sealed = phm.generate_sealed(256, seal_to=recipient_key.recipient, include="receipt")

    # Only the receipt shows that the service sealed this key to this recipient. Pin the policy: get
    # it once.
    receipt = sealed.receipt or phm.receipt(sealed.key_id).receipt
    policy = urlopen(f"{url}/log/policy").read().decode()
    opened = open_sealed_key(sealed, recipient_key, receipt=receipt, policy=policy)
    print(f"{opened.key_id}: {len(opened.key) * 8} bits, receipt valid")
