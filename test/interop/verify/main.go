// Command verify checks a log of the PHM key service with other people's code: golang.org/x/mod/sumdb for notes,
// tiles and proofs, and filippo.io/torchwood for ML-DSA-44, policies and c2sp.org/tlog-proof.
//
//	verify -log http://localhost:3000/log -ed25519 VKEY -policy FILE [-old CHECKPOINT] [RECEIPT...]
//
// It reads the checkpoint and all tiles and entries, and prints one line for each check that passed.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var (
	logURL  = flag.String("log", "", "address of the log, without a slash at its end")
	vkey    = flag.String("ed25519", "", "the log's Ed25519 verifier key")
	policy  = flag.String("policy", "", "file with the log's policy, which names its ML-DSA-44 key")
	oldPath = flag.String("old", "", "file with an earlier checkpoint")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	verifier := must(note.NewVerifier(*vkey))
	policy := must(torchwood.ParsePolicy(must(os.ReadFile(*policy))))

	signed := must(get("checkpoint"))
	tree := openTree(signed, verifier)
	fmt.Printf("Ed25519: %d entries\n", tree.N)
	c, _, err := torchwood.VerifyCheckpoint(signed, policy)
	check(err)
	if c.Tree != tree {
		log.Fatal("the two signatures sign different trees")
	}
	fmt.Println("policy: ML-DSA-44 and quorum")

	hashes := tlog.TileHashReader(tree, &tiles{cache: map[tlog.Tile][]byte{}})
	checkEntries(tree, hashes)
	fmt.Printf("inclusion: %d entries\n", tree.N)

	if *oldPath != "" {
		old := openTree(must(os.ReadFile(*oldPath)), verifier)
		proof := must(tlog.ProveTree(tree.N, old.N, hashes))
		check(tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash))
		fmt.Printf("consistency: from %d entries\n", old.N)
	}
	for _, path := range flag.Args() {
		check(verifyReceipt(must(os.ReadFile(path)), policy))
		fmt.Printf("receipt: %s\n", path)
	}
}

func openTree(signed []byte, verifier note.Verifier) tlog.Tree {
	n := must(note.Open(signed, note.VerifierList(verifier)))
	c := must(torchwood.ParseCheckpoint(n.Text))
	if c.Origin != verifier.Name() {
		log.Fatalf("the checkpoint is of %s", c.Origin)
	}
	return c.Tree
}

// checkEntries reads every entry and checks its inclusion proof against the tree.
func checkEntries(tree tlog.Tree, hashes tlog.HashReader) {
	for start := int64(0); start < tree.N; start += 256 {
		width := int(min(256, tree.N-start))
		// L -1 is the level of entry bundles.
		bundle := must(get(torchwood.TilePath(tlog.Tile{H: 8, L: -1, N: start / 256, W: width})))
		for i := start; i < start+int64(width); i++ {
			entry, rest, err := torchwood.ReadTileEntry(bundle)
			check(err)
			proof := must(tlog.ProveRecord(tree.N, i, hashes))
			check(tlog.CheckRecord(proof, tree.N, tree.Hash, i, tlog.RecordHash(entry)))
			bundle = rest
		}
		if len(bundle) > 0 {
			log.Fatalf("the bundle from entry %d has bytes after its last entry", start)
		}
	}
}

// verifyReceipt hashes the statement in its canonical form, and verifies that the log has this entry.
func verifyReceipt(data []byte, policy torchwood.Policy) error {
	var receipt struct {
		Statement map[string]any
		Proof     string
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&receipt); err != nil {
		return err
	}
	// Go sorts members by bytes, as RFC 8785 does for ASCII. UseNumber keeps numbers as they are written.
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(receipt.Statement); err != nil {
		return err
	}
	entry := sha256.Sum256(bytes.TrimSuffix(canonical.Bytes(), []byte("\n")))
	return torchwood.VerifyProof(policy, tlog.RecordHash(entry[:]), []byte(receipt.Proof))
}

// tiles reads tiles by HTTP. tlog.TileHashReader verifies them before it saves them.
type tiles struct{ cache map[tlog.Tile][]byte }

func (t *tiles) Height() int { return 8 }

func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	for i, tile := range wanted {
		if saved, ok := t.cache[tile]; ok {
			data[i] = saved
			continue
		}
		read, err := get(torchwood.TilePath(tile))
		if err != nil {
			return nil, err
		}
		data[i] = read
	}
	return data, nil
}

func (t *tiles) SaveTiles(read []tlog.Tile, data [][]byte) {
	for i, tile := range read {
		t.cache[tile] = data[i]
	}
}

func get(path string) ([]byte, error) {
	response, err := http.Get(*logURL + "/" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	}
	return io.ReadAll(response.Body)
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
