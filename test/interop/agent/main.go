// Gets keys at both ends of a pair from their agents, by ETSI GS QKD 014 and by SKIP with certificates, as a stranger would
// with nothing but Go: crypto/tls and net/http. Prints the number of bits of each key that is equal at both ends.
//
//	agent FOLDER MASTER MASTER-KME SLAVE SLAVE-KME MASTER-SKIP SLAVE-SKIP
//
// FOLDER has the certificate and key of each system (NAME.pem, NAME.key) and that of the agents (server.pem).
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
)

type system struct {
	name   string
	client *http.Client
}

// A key container, or a list of IDs, of clauses 6.3 and 6.4.
type keys struct {
	Keys []struct {
		ID  string `json:"key_ID"`
		Key string `json:"key"`
	} `json:"keys"`
}

type skipKey struct {
	ID  string `json:"keyId"`
	Key string `json:"key"`
}

func newSystem(folder, name string) system {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key"))
	must(err)
	authority, err := os.ReadFile(filepath.Join(folder, "server.pem"))
	must(err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		log.Fatal("server.pem is no certificate")
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: pool, MinVersion: tls.VersionTLS12}
	return system{name, &http.Client{Transport: &http.Transport{TLSClientConfig: config}}}
}

// call sends a request, a POST if it has a body, and returns the status of the answer, which it parses.
func (one system) call(address string, body, answer any) int {
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		method = http.MethodPost
		content, err = json.Marshal(body)
		must(err)
	}
	request, err := http.NewRequest(method, address, bytes.NewReader(content))
	must(err)
	request.Header.Set("Content-Type", "application/json")
	response, err := one.client.Do(request)
	must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(err)
	must(json.Unmarshal(text, answer))
	return response.StatusCode
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func require(holds bool, what string) {
	if !holds {
		log.Fatal(what)
	}
}

func etsi014(master, slave system, masterURL, slaveURL string) []int {
	bits := []int{}
	for _, order := range []map[string]int{{}, {"number": 3}, {"size": 128}, {"number": 2, "size": 384}} {
		var taken, read, again keys
		path := "/api/v1/keys/" + url.PathEscape(slave.name) + "/enc_keys"
		require(master.call(masterURL+path, order, &taken) == 200, "no new keys")
		ids := []map[string]string{}
		for _, key := range taken.Keys {
			ids = append(ids, map[string]string{"key_ID": key.ID})
		}
		path = "/api/v1/keys/" + url.PathEscape(master.name) + "/dec_keys"
		wanted := map[string]any{"key_IDs": ids}
		require(slave.call(slaveURL+path, wanted, &read) == 200, "the slave gets no keys")
		require(reflect.DeepEqual(taken, read), "keys differ")
		require(slave.call(slaveURL+path, wanted, &again) == 400, "the slave gets keys twice")
		for _, key := range read.Keys {
			decoded, err := base64.StdEncoding.DecodeString(key.Key)
			must(err)
			bits = append(bits, 8*len(decoded))
		}
	}
	return bits
}

func skip(master, slave system, masterURL, slaveURL string) []int {
	bits := []int{}
	for _, size := range []string{"", "&size=128", "&size=384"} {
		var taken, read, again skipKey
		require(master.call(masterURL+"/key?remoteSystemID="+url.QueryEscape(slave.name)+size, nil, &taken) == 200, "no new key")
		address := slaveURL + "/key/" + taken.ID + "?remoteSystemID=" + url.QueryEscape(master.name)
		require(slave.call(address, nil, &read) == 200, "the slave gets no key")
		require(taken == read, "keys differ")
		require(slave.call(address, nil, &again) == 400, "the slave gets a key twice")
		decoded, err := hex.DecodeString(read.Key)
		must(err)
		bits = append(bits, 8*len(decoded))
	}
	return bits
}

func main() {
	arguments := os.Args[1:]
	require(len(arguments) == 7, "expected FOLDER MASTER MASTER-KME SLAVE SLAVE-KME MASTER-SKIP SLAVE-SKIP")
	folder := arguments[0]
	master, slave := newSystem(folder, arguments[1]), newSystem(folder, arguments[3])
	printed, err := json.Marshal(map[string][]int{
		"etsi-014": etsi014(master, slave, arguments[2], arguments[4]),
		"skip":     skip(master, slave, arguments[5], arguments[6]),
	})
	must(err)
	fmt.Println(string(printed))
}
