// Command sealing opens and makes sealed keys of the PHM key service with Go's own crypto/hpke, by docs/sealing.md.
//
//	sealing open < {"recipient_key": …, "sealed_key": …}
//	sealing seal < {"recipient": …, "content": …}
//
// It reads and prints lines of JSON. It exits with code 1 and one line of reason if a sealed key does not open.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
)

// header has its members in the order of RFC 8785, as encoding/json keeps the order of the fields. The second type has
// delivery and recipients too.
type header struct {
	AEAD       uint16          `json:"aead_id"`
	Delivery   json.RawMessage `json:"delivery,omitempty"`
	KDF        uint16          `json:"kdf_id"`
	KEM        uint16          `json:"kem_id"`
	Commitment string          `json:"key_commitment"`
	KeyID      string          `json:"key_id"`
	Recipients []string        `json:"recipients,omitempty"`
	Level      int             `json:"security_level"`
	Service    *string         `json:"service"`
	Thumbprint string          `json:"thumbprint"`
	Time       string          `json:"time"`
	Type       string          `json:"type"`
}

// delivery is null, or has its members in the order of RFC 8785.
type delivery struct {
	Context *string `json:"context"`
	ID      string  `json:"id"`
}

// labels are the beginnings of HPKE's info.
var labels = map[string]string{
	"phm-sealed-key/v1": "phm/seal/v1\x00",
	"phm-sealed-key/v2": "phm/seal/v2\x00",
}

// content is the plaintext, in the order of RFC 8785.
type content struct {
	HashProof string `json:"hash_proof"`
	Key       string `json:"key"`
	Opening   string `json:"opening"`
}

type sealedKey struct {
	Suite      string `json:"suite"`
	KEM        uint16 `json:"kem_id"`
	KDF        uint16 `json:"kdf_id"`
	AEAD       uint16 `json:"aead_id"`
	Enc        string `json:"enc"`
	Ciphertext string `json:"ciphertext"`
	Header     string `json:"header"`
}

type recipient struct {
	Type       string `json:"type"`
	Suite      string `json:"suite"`
	PublicKey  string `json:"public_key"`
	PrivateKey string `json:"private_key,omitempty"`
}

type opened struct {
	Header  header  `json:"header"`
	Content content `json:"content"`
	// sealed_digest of the receipt.
	Digest string `json:"digest"`
}

type suite struct {
	kem  hpke.KEM
	kdf  hpke.KDF
	aead hpke.AEAD
}

var suites = map[string]suite{
	"MLKEM768-X25519": {hpke.MLKEM768X25519(), hpke.HKDFSHA256(), hpke.AES256GCM()},
	"ML-KEM-1024":     {hpke.MLKEM1024(), hpke.HKDFSHA512(), hpke.AES256GCM()},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: sealing open|seal")
	}
	input := json.NewDecoder(os.Stdin)
	input.DisallowUnknownFields()
	output := json.NewEncoder(os.Stdout)
	for input.More() {
		switch os.Args[1] {
		case "open":
			var one struct {
				Recipient recipient `json:"recipient_key"`
				Sealed    sealedKey `json:"sealed_key"`
			}
			check(input.Decode(&one))
			check(output.Encode(must(open(one.Recipient, one.Sealed))))
		case "seal":
			var one struct {
				Recipient recipient `json:"recipient"`
				Header    header    `json:"header"`
				Content   content   `json:"content"`
			}
			check(input.Decode(&one))
			check(output.Encode(must(seal(one.Recipient, one.Header, one.Content))))
		}
	}
}

func open(to recipient, sealed sealedKey) (*opened, error) {
	s, ok := suites[to.Suite]
	if !ok || sealed.Suite != to.Suite {
		return nil, fmt.Errorf("the suite %q is not %q", sealed.Suite, to.Suite)
	}
	aad, err := base64.RawURLEncoding.Strict().DecodeString(sealed.Header)
	if err != nil {
		return nil, err
	}
	var h header
	if err := canonical(aad, &h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := bound(h); err != nil {
		return nil, err
	}
	ids := [3]uint16{s.kem.ID(), s.kdf.ID(), s.aead.ID()}
	if ids != [3]uint16{sealed.KEM, sealed.KDF, sealed.AEAD} || ids != [3]uint16{h.KEM, h.KDF, h.AEAD} {
		return nil, errors.New("the numbers of the suite differ")
	}
	private, err := s.kem.NewPrivateKey(must(base64.RawURLEncoding.Strict().DecodeString(to.PrivateKey)))
	if err != nil {
		return nil, err
	}
	public := private.PublicKey().Bytes()
	if to.PublicKey != base64.RawURLEncoding.EncodeToString(public) {
		return nil, errors.New("the public key is not the one of the private key")
	}
	if h.Thumbprint != thumbprint(public) {
		return nil, errors.New("sealed to another recipient")
	}
	enc := must(base64.RawURLEncoding.Strict().DecodeString(sealed.Enc))
	ciphertext := must(base64.RawURLEncoding.Strict().DecodeString(sealed.Ciphertext))
	receiver, err := hpke.NewRecipient(enc, private, s.kdf, s.aead, info(h.Type, aad))
	if err != nil {
		return nil, err
	}
	plaintext, err := receiver.Open(aad, ciphertext)
	if err != nil {
		return nil, err
	}
	var c content
	if err := canonical(plaintext, &c); err != nil {
		return nil, fmt.Errorf("plaintext: %w", err)
	}
	if err := committed(h, c); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(append(enc, ciphertext...))
	return &opened{h, c, base64.StdEncoding.EncodeToString(digest[:])}, nil
}

func seal(to recipient, h header, c content) (*sealedKey, error) {
	s, ok := suites[to.Suite]
	if !ok {
		return nil, fmt.Errorf("no suite %q", to.Suite)
	}
	raw := must(base64.RawURLEncoding.Strict().DecodeString(to.PublicKey))
	public, err := s.kem.NewPublicKey(raw)
	if err != nil {
		return nil, err
	}
	h.KEM, h.KDF, h.AEAD = s.kem.ID(), s.kdf.ID(), s.aead.ID()
	h.Thumbprint, h.Type = thumbprint(raw), "phm-sealed-key/v1"
	if h.Recipients != nil {
		h.Type = "phm-sealed-key/v2"
	}
	if err := bound(h); err != nil {
		return nil, err
	}
	aad := marshal(h)
	enc, sender, err := hpke.NewSender(public, s.kdf, s.aead, info(h.Type, aad))
	if err != nil {
		return nil, err
	}
	ciphertext, err := sender.Seal(aad, marshal(c))
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString
	return &sealedKey{to.Suite, h.KEM, h.KDF, h.AEAD, text(enc), text(ciphertext), text(aad)}, nil
}

// bound checks what binds the copies of a key together.
func bound(h header) error {
	if h.Type == "phm-sealed-key/v1" {
		if h.Recipients != nil || h.Delivery != nil {
			return errors.New("a header of the first type names recipients or a delivery")
		}
		return nil
	}
	if labels[h.Type] == "" || h.Delivery == nil {
		return fmt.Errorf("the type %q is unknown, or names no delivery", h.Type)
	}
	var d *delivery
	if err := canonical(h.Delivery, &d); err != nil {
		return fmt.Errorf("delivery: %w", err)
	}
	least := 2
	if d != nil {
		least = 1
	}
	found := map[string]bool{}
	for _, one := range h.Recipients {
		found[one] = true
	}
	if n := len(h.Recipients); n < least || n > 8 || len(found) != n || !found[h.Thumbprint] {
		return errors.New("the recipients are too few or too many, not different, or without the own one")
	}
	return nil
}

// committed checks the commitment of the header (docs/receipts.md, "The key commitment").
func committed(h header, c content) error {
	key, err := hex.DecodeString(c.Key)
	if err != nil || len(key)*8 != h.Level {
		return fmt.Errorf("the key has %d bits", len(key)*8)
	}
	opening, err := base64.StdEncoding.Strict().DecodeString(c.Opening)
	if err != nil || len(opening) != 32 {
		return errors.New("the opening has another length")
	}
	mac := hmac.New(sha256.New, opening)
	mac.Write([]byte("phm/key-commitment/v1\x00"))
	mac.Write(binary.BigEndian.AppendUint16(nil, uint16(h.Level)))
	mac.Write([]byte(h.KeyID + "\x00"))
	mac.Write(key)
	want, err := base64.StdEncoding.Strict().DecodeString(h.Commitment)
	if err != nil || !hmac.Equal(mac.Sum(nil), want) {
		return errors.New("the commitment is of another key")
	}
	return nil
}

func info(kind string, header []byte) []byte {
	sum := sha256.Sum256(header)
	return append([]byte(labels[kind]), sum[:]...)
}

func thumbprint(public []byte) string {
	sum := sha256.Sum256(public)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// canonical reads JSON that must be exactly what marshal writes.
func canonical(text []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if again := marshal(value); !bytes.Equal(again, text) {
		return fmt.Errorf("not canonical: %s", again)
	}
	return nil
}

// marshal writes JSON without white space, and leaves <, > and & as they are.
func marshal(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(value))
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
