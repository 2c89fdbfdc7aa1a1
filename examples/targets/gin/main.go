// A small API in Gin, with the middlewares that such APIs tend to have.
//
// Middlewares are added one by one and each costs something on every request; which one costs much is seen only under load. So
// they can be chosen at the start, and Go's profiler answers beside them.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"strconv"

	"github.com/gin-gonic/gin"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where to listen")
	chosen := flag.String("middlewares", "", "which middlewares stand before a route, with commas between them: "+known())
	logFile := flag.String("log", "/dev/null", "where the logger and the dump write")
	flag.Parse()

	out, err := os.OpenFile(*logFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	before, err := chain(*chosen, out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	log.Fatal(http.ListenAndServe(*listen, api(before, out)))
}

// api is the routes behind their middlewares, and the profiler behind none: it is not what is measured.
func api(before []gin.HandlerFunc, out io.Writer) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter, gin.DefaultErrorWriter = out, out
	engine := gin.New()
	engine.GET("/debug/pprof/*profile", func(c *gin.Context) {
		switch c.Param("profile") {
		case "/profile":
			pprof.Profile(c.Writer, c.Request)
		case "/symbol":
			pprof.Symbol(c.Writer, c.Request)
		case "/trace":
			pprof.Trace(c.Writer, c.Request)
		default:
			pprof.Index(c.Writer, c.Request)
		}
	})

	routes := engine.Group("/", before...)
	routes.GET("/healthz", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"status": "ok"})
	})
	routes.GET("/get_result", func(c *gin.Context) {
		a, errA := strconv.Atoi(c.Query("a"))
		b, errB := strconv.Atoi(c.Query("b"))
		if errA != nil || errB != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": "a and b are whole numbers"})
			return
		}
		c.JSON(http.StatusOK, gin.H{"result": a + b})
	})
	return engine
}
