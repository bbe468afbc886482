// Command files decrypts and encrypts the content of encrypted files with tink-go, by docs/encrypted-files.md.
//
//	files decrypt KEY KEY_ID < FILE > PLAINTEXT
//	files encrypt KEY KEY_ID < PLAINTEXT > CONTENT
//
// KEY is the opened key in hexadecimal. It exits with code 1 and one line of reason if the content is not authentic.
package main

import (
	"bufio"
	"encoding/hex"
	"io"
	"log"
	"os"

	"github.com/tink-crypto/tink-go/v2/streamingaead/subtle"
)

const format = "phm-encrypted-file/v1"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: files decrypt|encrypt KEY KEY_ID")
	}
	key := must(hex.DecodeString(os.Args[2]))
	stream := must(subtle.NewAESGCMHKDF(key, "SHA256", 32, 1<<20, 0))
	associatedData := []byte(format + "\x00" + os.Args[3])
	switch os.Args[1] {
	case "decrypt":
		file := bufio.NewReader(os.Stdin)
		if line := must(file.ReadString('\n')); line != format+"\n" {
			log.Fatalf("not an encrypted file: %q", line)
		}
		// The sealed key, which another program opened.
		must(file.ReadString('\n'))
		must(io.Copy(os.Stdout, must(stream.NewDecryptingReader(file, associatedData))))
	case "encrypt":
		content := must(stream.NewEncryptingWriter(os.Stdout, associatedData))
		must(io.Copy(content, os.Stdin))
		if err := content.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
