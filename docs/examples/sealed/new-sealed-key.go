// Generates a key that is sealed to a new recipient, and opens it, with Go's standard library (1.26 or newer) alone. It
// does not check the receipt, which shows who sealed the key.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
)

// The suite MLKEM768-X25519. For ML-KEM-1024: hpke.MLKEM1024() and hpke.HKDFSHA512().
var kem, kdf, aead = hpke.MLKEM768X25519(), hpke.HKDFSHA256(), hpke.AES256GCM()

// In a []byte, encoding/json reads and writes base64; this is base64url without padding.
type base64URL []byte

func (b base64URL) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

func (b *base64URL) UnmarshalText(text []byte) (err error) {
	*b, err = base64.RawURLEncoding.Strict().DecodeString(string(text))
	return err
}

type sealedKey struct{ Enc, Ciphertext, Header base64URL }

type header struct {
	KeyID         string `json:"key_id"`
	SecurityLevel int    `json:"security_level"`
	KeyCommitment []byte `json:"key_commitment"`
	Thumbprint    []byte
}

func main() {
	// The recipient keeps this and gives away only the public key. private.Bytes() is the seed to store.
	private := must(kem.GenerateKey())
	sealed := must(generateSealed(private.PublicKey().Bytes()))
	keyID, key, err := open(private, sealed)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d bits, receipt not checked\n", keyID, len(key)*8)
}

func generateSealed(publicKey []byte) (sealedKey, error) {
	body := must(json.Marshal(map[string]any{
		"security_level": 256,
		"seal_to":        map[string]any{"suite": "MLKEM768-X25519", "public_key": base64URL(publicKey)},
	}))
	url := os.Getenv("PHM_URL") + "/api/v2/generate/sealed"
	request := must(http.NewRequest("POST", url, bytes.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-API-Key", os.Getenv("PHM_API_KEY"))
	// After a lost answer, send the same request again with the same key: you get the same sealed key.
	request.Header.Set("Idempotency-Key", rand.Text())
	var answer struct {
		SealedKey sealedKey `json:"sealed_key"`
		Detail    string    // of an error
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer.SealedKey, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer.SealedKey, err
	}
	if response.StatusCode != http.StatusOK {
		return answer.SealedKey, errors.New(answer.Detail)
	}
	return answer.SealedKey, nil
}

// open returns the ID of the key and the key (docs/sealing.md, "How to open").
func open(private hpke.PrivateKey, sealed sealedKey) (string, []byte, error) {
	var head header
	if err := json.Unmarshal(sealed.Header, &head); err != nil {
		return "", nil, err
	}
	thumbprint := sha256.Sum256(private.PublicKey().Bytes())
	if !bytes.Equal(thumbprint[:], head.Thumbprint) {
		return "", nil, errors.New("the key is sealed to another recipient")
	}
	headerHash := sha256.Sum256(sealed.Header)
	info := append([]byte("phm/seal/v1\x00"), headerHash[:]...)
	recipient, err := hpke.NewRecipient(sealed.Enc, private, kdf, aead, info)
	if err != nil {
		return "", nil, err
	}
	plaintext, err := recipient.Open(sealed.Header, sealed.Ciphertext)
	if err != nil {
		return "", nil, err
	}
	var content struct {
		Key     string
		Opening []byte
	}
	if err := json.Unmarshal(plaintext, &content); err != nil {
		return "", nil, err
	}
	key, err := hex.DecodeString(content.Key)
	if err != nil || len(key)*8 != head.SecurityLevel || len(content.Opening) != 32 {
		return "", nil, errors.New("the sealed content has another form")
	}
	// AES-GCM does not commit to its key: the commitment shows that the ciphertext opens to one key only.
	mac := hmac.New(sha256.New, content.Opening)
	mac.Write([]byte("phm/key-commitment/v1\x00"))
	mac.Write(binary.BigEndian.AppendUint16(nil, uint16(head.SecurityLevel)))
	mac.Write([]byte(head.KeyID + "\x00"))
	mac.Write(key)
	if !hmac.Equal(mac.Sum(nil), head.KeyCommitment) {
		return "", nil, errors.New("key_commitment is of another key: do not use this one")
	}
	return head.KeyID, key, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
