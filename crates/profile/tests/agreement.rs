//! Figures that agree with `go tool pprof` on the same file: both read profiles of a real Go program, and print the same rows.

use std::fs;
use std::path::Path;
use std::process::Command;

use profile::{Order, Regex, Selection, read, top};

/// Works, waits and allocates: with functions that are put into their callers, one that calls itself, a lock and a growing heap.
const PROGRAM: &str = r#"package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var sink any

func add(a, b int) int { return a*31 + b }

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func mix(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum = add(sum, i)
	}
	return sum
}

//go:noinline
func dump() []byte {
	var into bytes.Buffer
	data := map[string]any{"id": 7, "words": []string{"one", "two", "three"}, "deep": map[string]int{"a": 1, "b": 2}}
	encoder := json.NewEncoder(&into)
	encoder.SetIndent("", "  ")
	encoder.Encode(data)
	return into.Bytes()
}

func write(name string, save func(*os.File) error) {
	file, err := os.Create(name)
	if err == nil {
		err = save(file)
	}
	if err != nil {
		panic(err)
	}
	file.Close()
}

func main() {
	runtime.MemProfileRate = 512
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	file, err := os.Create("cpu.pprof")
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(file)
	var lock sync.Mutex
	var all sync.WaitGroup
	kept := [][]byte{}
	for worker := 0; worker < 3; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			until := time.Now().Add(900 * time.Millisecond)
			for time.Now().Before(until) {
				sink = fib(18) + mix(20000)
				lock.Lock()
				kept = append(kept, dump())
				lock.Unlock()
			}
		}()
	}
	all.Wait()
	pprof.StopCPUProfile()
	file.Close()
	for _, name := range []string{"heap", "allocs", "mutex", "block", "goroutine"} {
		write(name+".pprof", func(file *os.File) error { return pprof.Lookup(name).WriteTo(file, 0) })
	}
	sink = kept
}
"#;

/// Runs it, which has to succeed; what it prints.
#[track_caller]
fn told(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let path = format!("{}:/usr/local/go/bin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PATH", path);
    // Nothing is fetched: the program has no dependencies, and pprof comes with Go.
    command.env("GOFLAGS", "-mod=mod").env("GOTOOLCHAIN", "local").env("GOPROXY", "off").env("PPROF_TMPDIR", folder);
    let ran = command.output().unwrap_or_else(|why| panic!("{program}: {why}; go is installed by scripts/tools.sh"));
    assert!(ran.status.success(), "{program} {arguments:?}\n{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// From the line that says how much is shown.
fn table(text: &str) -> Vec<&str> {
    text.lines().skip_while(|line| !line.starts_with("Showing nodes")).collect()
}

#[test]
fn tables_are_those_of_the_real_tool() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("main.go"), PROGRAM).unwrap();
    fs::write(folder.join("go.mod"), "module profiled\n\ngo 1.21\n").unwrap();
    told(folder, "go", &["build", "-o", "profiled", "."]);
    told(folder, "./profiled", &[]);
    let focus = r"main\.(fib|dump)$";
    let ways: [(&[&str], Selection); 4] = [
        (&[], Selection::default()),
        (&["-cum"], Selection { order: Order::Cum, ..Selection::default() }),
        (&["-nodecount=7"], Selection { rows_max: Some(7), ..Selection::default() }),
        (&["-cum", r"-focus=main\.(fib|dump)$"], Selection { order: Order::Cum, focus: Regex::new(focus).ok(), ..Selection::default() }),
    ];
    let mut rows = 0;
    for name in ["cpu", "heap", "allocs", "mutex", "block", "goroutine"] {
        let file = format!("{name}.pprof");
        let profile = read(&fs::read(folder.join(&file)).unwrap(), None).unwrap_or_else(|why| panic!("{name}: {why}"));
        for (arguments, selection) in &ways {
            let theirs = told(folder, "go", &[&["tool", "pprof", "-top", "-symbolize=none"], *arguments, &[&file]].concat());
            let ours = top(&profile, selection).text(str::to_owned);
            let (ours, theirs) = (table(&ours), table(&theirs));
            if theirs.len() <= 2 {
                // Nothing was found: each says so in its own words.
                continue;
            }
            assert_eq!(ours, theirs, "{name} {arguments:?}");
            rows += theirs.len();
        }
    }
    assert!(rows > 150, "tables were compared: {rows}");
    let samples = read(&fs::read(folder.join("heap.pprof")).unwrap(), Some("alloc_objects")).unwrap();
    let theirs = told(folder, "go", &["tool", "pprof", "-top", "-symbolize=none", "-sample_index=alloc_objects", "heap.pprof"]);
    assert_eq!(table(&top(&samples, &Selection::default()).text(str::to_owned)), table(&theirs));
}
