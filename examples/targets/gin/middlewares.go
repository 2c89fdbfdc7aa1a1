// The middlewares, in the order in which they stand before a route.
//
// They do what their like do in real services, no more and no less. The dump is the one to look at: it is of use while developing, writes
// every request and answer as indented JSON, and is easily left on.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

const requestIDHeader = "X-Request-Id"

var middlewares = []struct {
	name string
	make func(out io.Writer) gin.HandlerFunc
}{
	{"requestid", requestID},
	{"context", requestContext},
	{"recovery", func(out io.Writer) gin.HandlerFunc { return gin.RecoveryWithWriter(out) }},
	{"logger", func(out io.Writer) gin.HandlerFunc { return gin.LoggerWithWriter(out) }},
	{"nocache", noCache},
	{"dump", dump},
}

func known() string {
	var names []string
	for _, middleware := range middlewares {
		names = append(names, middleware.name)
	}
	return strings.Join(names, ",")
}

// chain is the chosen middlewares, in the order of the list above.
func chain(chosen string, out io.Writer) ([]gin.HandlerFunc, error) {
	wanted := map[string]bool{}
	for _, name := range strings.Split(chosen, ",") {
		if name != "" {
			wanted[name] = true
		}
	}
	var before []gin.HandlerFunc
	for _, middleware := range middlewares {
		if wanted[middleware.name] {
			before = append(before, middleware.make(out))
			delete(wanted, middleware.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("there is no middleware %q, but %s", name, known())
	}
	return before, nil
}

// requestID gives each request a random UUID (version 4), unless its sender gave it one.
func requestID(io.Writer) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(requestIDHeader)
		if id == "" {
			var b [16]byte
			rand.Read(b[:])
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			text := hex.EncodeToString(b[:])
			id = text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
		}
		c.Set("request_id", id)
		c.Header(requestIDHeader, id)
		c.Next()
	}
}

// requestContext puts what handlers and logs want to know of a request where they find it.
func requestContext(io.Writer) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set("client", c.ClientIP())
		c.Set("route", c.FullPath())
		c.Set("began", time.Now())
		c.Next()
	}
}

// noCache forbids every cache on the way to keep the answer.
func noCache(io.Writer) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
		c.Header("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")
		c.Header("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		c.Next()
	}
}

// dump writes every request and its answer, heads and bodies, as indented JSON.
func dump(out io.Writer) gin.HandlerFunc {
	return func(c *gin.Context) {
		var asked []byte
		if c.Request.Body != nil {
			asked, _ = io.ReadAll(c.Request.Body)
			c.Request.Body = io.NopCloser(bytes.NewReader(asked))
		}
		answer := &copied{ResponseWriter: c.Writer}
		c.Writer = answer
		c.Next()

		var text bytes.Buffer
		fmt.Fprintf(&text, "[dump] %s %s\n", c.Request.Method, c.Request.URL)
		fmt.Fprintf(&text, "request head:\n%s\n", indented(c.Request.Header))
		fmt.Fprintf(&text, "request body:\n%s\n", indentedBody(asked))
		fmt.Fprintf(&text, "answer head:\n%s\n", indented(answer.Header()))
		fmt.Fprintf(&text, "answer body:\n%s\n", indentedBody(answer.body.Bytes()))
		out.Write(text.Bytes())
	}
}

// copied keeps what is written to the client.
type copied struct {
	gin.ResponseWriter
	body bytes.Buffer
}

func (c *copied) Write(part []byte) (int, error) {
	c.body.Write(part)
	return c.ResponseWriter.Write(part)
}

func (c *copied) WriteString(part string) (int, error) {
	c.body.WriteString(part)
	return c.ResponseWriter.WriteString(part)
}

func indented(value any) []byte {
	text, err := json.MarshalIndent(value, "", "    ")
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// indentedBody reads JSON and writes it anew; what is none stands as it is.
func indentedBody(body []byte) []byte {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return body
	}
	return indented(value)
}
