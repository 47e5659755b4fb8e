// Walks the table of every simulated agent by gosnmp, column by column, a bounded number of
// agents at a time; the cells are kept until their agent is done. It prints what it came to
// on a line as the bench's own programs do.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gosnmp/gosnmp"
)

const entry = ".1.3.6.1.4.1.4874.2.2.21.1.1.1.1"

var (
	count       = flag.Int("n", 1000, "agents")
	port        = flag.Uint("port", 22000, "the port of all of them")
	columns     = flag.Int("columns", 5, "columns, from 2 on")
	concurrency = flag.Int("concurrency", 64, "agents at a time")
	repetitions = flag.Uint("repetitions", 50, "max-repetitions of a GETBULK")
)

var cells, requests int64

// Where an agent stands, as place() of wire.rs has it.
func place(agent int) string {
	return fmt.Sprintf("127.1.%d.%d", (agent+1)>>8&0xff, (agent+1)&0xff)
}

func walk(agent int) error {
	session := &gosnmp.GoSNMP{
		Target:         place(agent),
		Port:           uint16(*port),
		Community:      "public",
		Version:        gosnmp.Version2c,
		Timeout:        5 * time.Second,
		Retries:        1,
		MaxRepetitions: uint32(*repetitions),
		OnSent:         func(*gosnmp.GoSNMP) { atomic.AddInt64(&requests, 1) },
	}
	if err := session.Connect(); err != nil {
		return err
	}
	defer session.Conn.Close()
	var kept []gosnmp.SnmpPDU
	keep := func(cell gosnmp.SnmpPDU) error {
		kept = append(kept, cell)
		return nil
	}
	for column := 2; column < 2+*columns; column++ {
		if err := session.BulkWalk(fmt.Sprintf("%s.%d", entry, column), keep); err != nil {
			return err
		}
	}
	atomic.AddInt64(&cells, int64(len(kept)))
	return nil
}

func seconds(time syscall.Timeval) float64 {
	return float64(time.Sec) + float64(time.Usec)/1e6
}

func main() {
	flag.Parse()
	begun := time.Now()
	agents := make(chan int)
	var workers sync.WaitGroup
	for worker := 0; worker < *concurrency; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for agent := range agents {
				if err := walk(agent); err != nil {
					log.Fatalf("agent %d: %v", agent, err)
				}
			}
		}()
	}
	for agent := 0; agent < *count; agent++ {
		agents <- agent
	}
	close(agents)
	workers.Wait()
	wall := time.Since(begun).Seconds()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("gosnmp wall %.5f cpu %.5f rss %.1f values %d requests %d\n", wall,
		seconds(used.Utime)+seconds(used.Stime), float64(used.Maxrss)/1024, cells, requests)
}
