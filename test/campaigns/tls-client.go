// A client with Go's crypto/tls: two connections, the second with the session of the first.
// Arguments: port, file of the certificate, and "classical" to offer no hybrid group.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
)

func main() {
	pem, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	config := &tls.Config{
		RootCAs:            roots,
		ServerName:         "localhost",
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
	if len(os.Args) > 3 && os.Args[3] == "classical" {
		config.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}
	}
	for range 2 {
		if err := ask(net.JoinHostPort("127.0.0.1", os.Args[1]), config); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

func ask(address string, config *tls.Config) error {
	connection, err := tls.Dial("tcp", address, config)
	if err != nil {
		return err
	}
	defer connection.Close()
	fmt.Fprint(connection, "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if _, err := io.Copy(io.Discard, connection); err != nil {
		return err
	}
	state := connection.ConnectionState()
	fmt.Println(state.CurveID, tls.CipherSuiteName(state.CipherSuite), state.DidResume)
	return nil
}
