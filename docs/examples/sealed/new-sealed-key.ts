// Generates a key that is sealed to a new recipient, opens it, and checks its receipt.
import { newRecipient, openSealedKey, PhmClient, sealTo } from 'phm-client';

const baseUrl = process.env.PHM_URL ?? 'http://127.0.0.1:8080';
const phm = new PhmClient({ baseUrl, apiKey: process.env.PHM_API_KEY });

// The recipient keeps this and gives away only the public key. formatRecipientKey writes it as a file.
const recipientKey = await newRecipient();
const sealed = await phm.generateSealed({
  security_level: 256,
  seal_to: sealTo(recipientKey),
  include: ['receipt'],
});

// Only the receipt shows that the service sealed this key to this recipient. Pin the policy: get it once.
const receipt = sealed.receipt ?? (await phm.receipt(sealed.key_id)).receipt;
const policy = await (await fetch(`${baseUrl}/log/policy`)).text();
const { header, key } = await openSealedKey(sealed, recipientKey, { receipt, policy });
console.log(`${header.key_id}: ${key.length * 8} bits, receipt valid`);
key.fill(0);
