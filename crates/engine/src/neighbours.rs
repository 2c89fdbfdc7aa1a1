//! Who else used this machine's cores during a run: the server, and programs that have nothing to do with it.
//!
//! A server that gets no core looks exactly like a slow one, and nothing in its answers tells which. Where it runs on this
//! very machine, the kernel knows: it counts how long each thread was ready without a core to run on, and what all programs
//! used together. The server is whoever holds the socket that listens at the target; worker processes that were forked
//! with it hold it too. What is neither the server's nor ours belongs to others. The load of the machine, the alternative,
//! counts the server among those who disturb it.
//!
//! Interrupts are left out, because those of a loopback connection are counted as nobody's. A server whose socket cannot be found
//! (another user's, another machine's) is not judged at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a run has lasted when the server is looked for.
const SOUGHT_AFTER: Duration = Duration::from_millis(50);

/// The server's processes on this machine, and what everybody had used before the run.
#[derive(Debug)]
pub(crate) struct Neighbours {
    server: BTreeSet<u32>,
    /// The processes that the load comes from.
    ours: Vec<u32>,
    before: ProcessorTotals,
}

/// A look for the server that begins when the run has lasted a moment: reading the tables of a busy machine takes many
/// milliseconds, and a run over by then is too short to see anything in, as processor time is told in hundredths of a second.
#[derive(Debug)]
pub(crate) struct Sought {
    over: Sender<()>,
    found: Option<JoinHandle<Option<Neighbours>>>,
}

impl Sought {
    /// Begins to look, on a thread of its own; the load comes from these processes.
    pub(crate) fn begin(addresses: Vec<SocketAddr>, unix_socket: Option<&str>, ours: Vec<u32>) -> Self {
        let (over, ended) = channel();
        let unix_socket = unix_socket.map(PathBuf::from);
        let look = move || match ended.recv_timeout(SOUGHT_AFTER) {
            Err(RecvTimeoutError::Timeout) => Neighbours::look(&addresses, unix_socket.as_deref(), ours),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => None,
        };
        // Without a thread nothing is judged, as where there is nothing to be seen.
        Self { over, found: thread::Builder::new().name("neighbours".to_owned()).spawn(look).ok() }
    }

    /// What was used since the server was found; `None` where it was not, or where the run is over too soon.
    pub(crate) fn since(self) -> Option<ProcessorReport> {
        drop(self.over);
        self.found?.join().ok()??.since()
    }
}

/// What became of the processors during a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProcessorReport {
    /// The share of the machine's processor time that went to programs other than loadline and the server, from 0 to 1.
    pub others_share: f64,
    /// Of the time in which the server's threads wanted a core, the share they waited for one, from 0 to 1; `None` where
    /// they wanted none or the system does not tell.
    pub server_wait_share: Option<f64>,
}

impl Neighbours {
    /// Looks for the server at these addresses or this socket; `None` where it is not on this machine, or not to be seen.
    pub(crate) fn look(addresses: &[SocketAddr], unix_socket: Option<&Path>, ours: Vec<u32>) -> Option<Self> {
        let sockets = match unix_socket {
            Some(path) => of_path(&fs::read_to_string("/proc/net/unix").ok()?, path),
            None => listening(addresses),
        };
        let server = holders(&sockets);
        if server.is_empty() { None } else { Some(Self { before: ProcessorTotals::now(&server, &ours)?, server, ours }) }
    }

    /// What was used since.
    pub(crate) fn since(&self) -> Option<ProcessorReport> {
        ProcessorTotals::now(&self.server, &self.ours)?.since(&self.before)
    }
}

/// Sockets that listen at one of the addresses, all of them of this machine.
fn listening(addresses: &[SocketAddr]) -> BTreeSet<u64> {
    if addresses.is_empty() || !addresses.iter().all(|address| address.ip().is_loopback()) {
        return BTreeSet::new();
    }
    let ports: BTreeSet<u16> = addresses.iter().map(SocketAddr::port).collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(|file| File::open(file).ok());
    tables.flat_map(|table| of_ports(BufReader::new(table), &ports)).collect()
}

/// From a table of TCP sockets: number, local address and port in hexadecimal, remote, state (0A listens), queues, timer,
/// retransmissions, user, timeout, inode (proc_pid_net(5)).
///
/// Sockets that listen come first (`tcp_seq_next`, net/ipv4/tcp_ipv4.c). Where they end the reading ends too: after them come the
/// connections, megabytes of them in a run with ten thousand.
fn of_ports(table: impl BufRead, ports: &BTreeSet<u16>) -> Vec<u64> {
    let listens = |line: &String| line.split_whitespace().nth(3) == Some("0A");
    let inode = |line: String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let port = u16::from_str_radix(words.get(1)?.rsplit(':').next()?, 16).ok()?;
        if ports.contains(&port) { words.get(9)?.parse().ok() } else { None }
    };
    table.lines().map_while(Result::ok).skip(1).take_while(listens).filter_map(inode).collect()
}

/// From the table of Unix sockets: number, references, protocol, flags, type, state, inode, path.
fn of_path(table: &str, path: &Path) -> BTreeSet<u64> {
    let inode = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        if Path::new(words.get(7)?) == path { words.get(6)?.parse().ok() } else { None }
    };
    table.lines().skip(1).filter_map(inode).collect()
}

/// The processes that hold one of these sockets, as far as this user may look.
fn holders(sockets: &BTreeSet<u64>) -> BTreeSet<u32> {
    if sockets.is_empty() {
        return BTreeSet::new();
    }
    let names: BTreeSet<String> = sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let holds = |process: &u32| {
        let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
        files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|to| to.to_str().is_some_and(|to| names.contains(to))))
    };
    numbers("/proc").filter(holds).collect()
}

/// The entries of a directory that are numbers.
fn numbers(directory: &str) -> impl Iterator<Item = u32> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Processor time so far.
#[derive(Debug, Clone, PartialEq)]
struct ProcessorTotals {
    /// Of the whole machine, idle time included, in the kernel's ticks.
    all: u64,
    /// Of all programs together.
    programs: u64,
    /// Of loadline and the server, by process.
    known: BTreeMap<u32, u64>,
    /// Nanoseconds that each of the server's threads ran, and waited for a core.
    threads: BTreeMap<u32, (u64, u64)>,
}

impl ProcessorTotals {
    fn now(server: &BTreeSet<u32>, ours: &[u32]) -> Option<Self> {
        let (all, programs) = of_machine(&fs::read_to_string("/proc/stat").ok()?)?;
        let used = |process: u32| Some((process, of_process(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)?));
        let known = server.iter().chain(ours).copied().filter_map(used).collect();
        let thread = |process: u32, thread: u32| {
            let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/schedstat")).ok()?;
            let mut counts = text.split_whitespace().map_while(|count| count.parse().ok());
            Some((thread, (counts.next()?, counts.next()?)))
        };
        let threads = server
            .iter()
            // Where the server runs in this process, its threads and ours cannot be told apart.
            .filter(|process| !ours.contains(process))
            .flat_map(|&process| numbers(&format!("/proc/{process}/task")).filter_map(move |it| thread(process, it)))
            .collect();
        Some(Self { all, programs, known, threads })
    }

    fn since(&self, earlier: &Self) -> Option<ProcessorReport> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all > 0)?;
        let programs = self.programs.saturating_sub(earlier.programs);
        let known: u64 = self.known.iter().map(|(process, used)| used.saturating_sub(*earlier.known.get(process).unwrap_or(used))).sum();
        let (ran, waited) = self.threads.iter().fold((0, 0), |sum, (thread, (ran, waited))| {
            let before = earlier.threads.get(thread).copied().unwrap_or_default();
            (sum.0 + ran.saturating_sub(before.0), sum.1 + waited.saturating_sub(before.1))
        });
        Some(ProcessorReport {
            others_share: programs.saturating_sub(known) as f64 / all as f64,
            server_wait_share: (ran + waited > 0).then(|| waited as f64 / (ran + waited) as f64),
        })
    }
}

/// All time, and that of programs: of the first line user, nice and system among user, nice, system, idle, iowait, irq, softirq, steal.
fn of_machine(stat: &str) -> Option<(u64, u64)> {
    let counts: Vec<u64> = stat.lines().next()?.split_whitespace().skip(1).take(8).filter_map(|count| count.parse().ok()).collect();
    (counts.len() == 8).then(|| (counts.iter().sum(), counts[..3].iter().sum()))
}

/// Time in user and kernel mode, of children that ended as well: the 14th to the 17th word; the second, the name, may hold anything.
fn of_process(stat: &str) -> Option<u64> {
    let words = stat[stat.rfind(')')? + 1..].split_whitespace().skip(11).take(4);
    Some(words.filter_map(|count| count.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Instant;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0\n   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0\n   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0\n";

    #[test]
    fn a_socket_that_listens_is_found_by_its_port_and_one_that_talks_is_not() {
        assert_eq!(of_ports(TCP.as_bytes(), &BTreeSet::from([8080])), [4711]);
        assert_eq!(of_ports(TCP.as_bytes(), &BTreeSet::from([80, 81])), [4713]);
        let unix = "Num RefCount Protocol Flags Type St Inode Path\n0: 00000002 00000000 00010000 0001 01 99 /run/api.sock\n1: 00000002 00000000 00010000 0001 01 98\n";
        assert_eq!(of_path(unix, Path::new("/run/api.sock")), BTreeSet::from([99]));
    }

    #[test]
    fn the_process_that_listens_is_the_server_and_nobody_is_where_nobody_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        assert_eq!(holders(&listening(&[here])), BTreeSet::from([std::process::id()]));
        assert!(listening(&[here, "192.0.2.7:80".parse().unwrap()]).is_empty(), "one of two addresses is elsewhere");
        drop(listener);
        assert!(Neighbours::look(&[here], None, Vec::new()).is_none());
    }

    #[test]
    fn a_server_is_found_in_a_run_that_lasts_and_not_looked_for_in_one_that_is_over() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = vec![listener.local_addr().unwrap()];
        // A thread that is set back for very long may still look: what counts is that one told at once does not.
        let at_once = (0..20).filter(|_| Sought::begin(here.clone(), None, Vec::new()).since().is_none()).count();
        assert!(at_once > 0);
        let sought = Sought::begin(here, None, Vec::new());
        let limit = Instant::now() + Duration::from_secs(60);
        while !sought.found.as_ref().unwrap().is_finished() {
            assert!(Instant::now() < limit, "the look ends");
            thread::sleep(Duration::from_millis(1));
        }
        // Without a tick of processor time there would be nothing to take a share of.
        let before = ProcessorTotals::now(&BTreeSet::new(), &[]).unwrap().all;
        while ProcessorTotals::now(&BTreeSet::new(), &[]).unwrap().all == before {
            assert!(Instant::now() < limit, "time passes");
        }
        assert!(sought.since().is_some());
    }

    #[test]
    fn what_is_neither_ours_nor_the_servers_is_of_others() {
        let (all, programs) = of_machine("cpu  100 0 50 800 0 20 20 10 0 0\n").unwrap();
        let before =
            ProcessorTotals { all, programs, known: BTreeMap::from([(1, 60), (2, 10)]), threads: BTreeMap::from([(2, (100, 100))]) };
        let (all, programs) = of_machine("cpu  180 10 60 900 0 20 20 10 0 0\n").unwrap();
        let after = ProcessorTotals {
            all,
            programs,
            // The third came later and had used 5 before it was seen, which says nothing of this time.
            known: BTreeMap::from([(1, 90), (2, 20), (3, 5)]),
            threads: BTreeMap::from([(2, (130, 140)), (7, (10, 20))]),
        };
        assert_eq!(after.since(&before), Some(ProcessorReport { others_share: 0.3, server_wait_share: Some(0.6) }));
        assert_eq!(before.since(&before), None);
    }

    #[test]
    fn a_process_name_may_hold_spaces_and_brackets() {
        assert_eq!(of_process("12 (a ) b) S 1 12 12 0 -1 4194560 1 2 3 4 30 12 5 6 20 0 1 0 9"), Some(53));
    }
}
