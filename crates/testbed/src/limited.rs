//! Servers that are each short of one thing: what names bottlenecks has to name theirs.
//!
//! A behaviour that only *waits* as a busy server would leaves no trace on its machine, and whoever looks there sees an idle
//! process. So these really use up what they are short of: a thread's core, all cores, a lock, storage, memory. They are plain
//! threads on blocking sockets, since an asynchronous runtime brings threads and queues of its own, and then the truth about a
//! server would be its runtime's. They are meant for a process of their own and never end.
//!
//! Invariant: work is measured in processor time, not in time, so that a busy machine makes a request longer and not cheaper.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use rustix::time::{ClockId, clock_gettime};

use crate::overload::{RateLimit, Window};

/// What a server is short of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Nothing: it answers after two milliseconds, as many at once as come.
    Nothing,
    /// One thread does all the work, a millisecond of it for each request.
    Thread,
    /// Each request takes three milliseconds of a core, on as many threads as there are connections.
    Cores,
    /// A request costs next to nothing: whoever asks costs as much.
    Room,
    /// It accepts a connection every ten milliseconds, and has room for four that wait.
    Acceptance,
    /// Four workers, each busy with one connection and one request at a time, for twenty milliseconds of waiting.
    Workers,
    /// All threads need one lock, and hold it for a millisecond of work.
    Lock,
    /// After every twenty requests everything stands still while a collector works for twenty milliseconds.
    Collector,
    /// It keeps 64 KiB of each request.
    Memory,
    /// Each request reads a mebibyte from storage.
    Storage,
    /// Beyond 200 requests a second it answers 429.
    Rate,
    /// With eight requests at work it answers all others 503, and when to come again.
    Admission,
    /// With eight requests at work all others fail.
    Soundness,
    /// It asks another server for each answer, whose address it is given.
    Upstream,
    /// Of the files that it may open, one for each connection; how many these are is set by whoever starts it.
    Files,
    /// Each answer has 64 KiB, and whatever carries them carries no more.
    Link,
}

impl Shortage {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 16] = [
        ("nothing", Self::Nothing),
        ("thread", Self::Thread),
        ("cores", Self::Cores),
        ("room", Self::Room),
        ("acceptance", Self::Acceptance),
        ("workers", Self::Workers),
        ("lock", Self::Lock),
        ("collector", Self::Collector),
        ("memory", Self::Memory),
        ("storage", Self::Storage),
        ("rate", Self::Rate),
        ("admission", Self::Admission),
        ("soundness", Self::Soundness),
        ("upstream", Self::Upstream),
        ("files", Self::Files),
        ("link", Self::Link),
    ];

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, shortage)| *shortage)
    }

    /// Starts a server that is short of this, on a free port of 127.0.0.1; it ends with the process. `behind` is whom
    /// [`Shortage::Upstream`] asks.
    ///
    /// # Errors
    /// If it cannot listen, has no file to write to, or nobody behind it is given.
    pub fn serve(self, behind: Option<SocketAddr>) -> io::Result<SocketAddr> {
        self.serve_at(Ipv4Addr::LOCALHOST, behind)
    }

    /// The same on a free port of another address of this machine.
    ///
    /// # Errors
    /// As above.
    pub fn serve_at(self, address: Ipv4Addr, behind: Option<SocketAddr>) -> io::Result<SocketAddr> {
        let listener = listener(address, if self == Self::Acceptance { 4 } else { 1_024 })?;
        let address = listener.local_addr()?;
        match self {
            Self::Nothing => on_threads(listener, || wait(2, FINE)),
            Self::Thread => {
                let worker = worker("app-loop", || work(Duration::from_millis(1)))?;
                on_threads(listener, move || worker.done());
            }
            Self::Cores => on_threads(listener, || {
                work(Duration::from_millis(3));
                FINE
            }),
            Self::Room => on_threads(listener, || FINE),
            Self::Acceptance => each_alone(listener, || {
                // Before the next connection is accepted, and not while this one waits.
                thread::sleep(Duration::from_millis(10));
            }),
            Self::Workers => {
                for _ in 1..4 {
                    each_alone(listener.try_clone()?, || thread::sleep(Duration::from_millis(20)));
                }
                each_alone(listener, || thread::sleep(Duration::from_millis(20)));
            }
            Self::Lock => {
                let lock = Mutex::new(());
                on_threads(listener, move || {
                    let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
                    work(Duration::from_millis(1));
                    FINE
                });
            }
            Self::Collector => collected(listener)?,
            Self::Memory => {
                let kept = Mutex::new(Vec::new());
                on_threads(listener, move || {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(vec![1u8; KEPT_BYTES]);
                    wait(2, FINE)
                });
            }
            Self::Storage => stored(listener)?,
            Self::Rate => {
                let limit = RateLimit { per_second: NonZeroU32::new(200).unwrap_or(NonZeroU32::MIN) };
                let (window, born) = (Mutex::new(Window::default()), Instant::now());
                on_threads(listener, move || {
                    let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
                    if window.admit(limit, born.elapsed()).is_ok() { FINE } else { TOO_MANY }
                });
            }
            Self::Admission => crowded(listener, UNAVAILABLE),
            Self::Soundness => crowded(listener, FAILED),
            Self::Upstream => {
                let behind = behind.ok_or_else(|| io::Error::other("nobody is behind this server: give an address"))?;
                on_threads(listener, move || if asked(behind).is_ok() { FINE } else { FAILED });
            }
            Self::Files => on_threads(listener, || wait(20, FINE)),
            Self::Link => {
                let body = "x".repeat(CARRIED_BYTES);
                let large = format!("HTTP/1.1 200 OK\r\nContent-Length: {CARRIED_BYTES}\r\n\r\n{body}");
                // As long as the server, which ends with the process.
                let large: &'static str = Box::leak(large.into_boxed_str());
                on_threads(listener, move || large);
            }
        }
        Ok(address)
    }
}

/// What a request that is kept keeps.
const KEPT_BYTES: usize = 64 * 1024;
/// What a request reads from storage: so much that storage takes much longer for it than a processor.
const STORED_BYTES: usize = 1024 * 1024;
/// So many of them are stored, and read in turn.
const STORED_PLACES: u64 = 64;
const PAGE_BYTES: usize = 4096;
/// The body of an answer that a link is to carry.
const CARRIED_BYTES: usize = 64 * 1024;
/// Requests at work beyond which it refuses or fails.
const CROWD_MAX: u64 = 8;

const FINE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LAST: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
const TOO_MANY: &str = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
const UNAVAILABLE: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
const FAILED: &str = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

/// As [`TcpListener::bind`], with room for so many connections that wait.
fn listener(address: Ipv4Addr, backlog: i32) -> io::Result<TcpListener> {
    let open = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&open, &SocketAddrV4::new(address, 0))?;
    listen(&open, backlog)?;
    Ok(TcpListener::from(open))
}

/// Works for so much processor time.
fn work(span: Duration) {
    let used = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
    };
    let begun = used();
    let mut number = 1u64;
    while used().saturating_sub(begun) < span {
        // Asking for the time is a call into the kernel, so not too often: this is some ten microseconds.
        for _ in 0..10_000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

fn wait(millis: u64, answer: &'static str) -> &'static str {
    thread::sleep(Duration::from_millis(millis));
    answer
}

/// A connection and what was read of it beyond the last request.
struct Talk {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Talk {
    fn new(stream: TcpStream) -> Self {
        Self { stream, read: Vec::new() }
    }

    /// Waits for a request without a body; `false` at the end of the connection.
    fn asks(&mut self) -> bool {
        loop {
            if let Some(at) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                self.read.drain(..at + 4);
                return true;
            }
            let mut bytes = [0; 4_096];
            match self.stream.read(&mut bytes) {
                Ok(count) if count > 0 => self.read.extend_from_slice(&bytes[..count]),
                _ => return false,
            }
        }
    }

    fn answer(&mut self, answer: &str) -> bool {
        self.stream.write_all(answer.as_bytes()).is_ok()
    }
}

/// A thread for each connection, each of which answers with what `serve` gives.
fn on_threads(listener: TcpListener, serve: impl Fn() -> &'static str + Send + Sync + 'static) {
    let serve = Arc::new(serve);
    thread::spawn(move || {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // No file for it, perhaps: it waits in the kernel until there is one again, as with servers that people use.
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let serve = Arc::clone(&serve);
            // Where no thread can be had, the connection is closed.
            let _ = thread::Builder::new().stack_size(128 * 1024).spawn(move || {
                let mut talk = Talk::new(stream);
                while talk.asks() && talk.answer(serve()) {}
            });
        }
    });
}

/// One thread that takes a connection, answers one request after `serve`, and takes the next.
fn each_alone(listener: TcpListener, serve: impl Fn() + Send + 'static) {
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut talk = Talk::new(stream);
            if talk.asks() {
                serve();
                talk.answer(LAST);
            }
        }
    });
}

/// A thread that others give work to.
struct Worker {
    ask: Sender<Sender<()>>,
}

impl Worker {
    /// Has it do its work once, and waits for the end of that.
    fn done(&self) -> &'static str {
        let (tell, told) = channel();
        if self.ask.send(tell).is_ok() && told.recv().is_ok() { FINE } else { FAILED }
    }
}

fn worker(name: &str, task: impl Fn() + Send + 'static) -> io::Result<Worker> {
    let (ask, asked) = channel::<Sender<()>>();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        for tell in asked {
            task();
            // Whoever asked may be gone.
            let _ = tell.send(());
        }
    })?;
    Ok(Worker { ask })
}

/// Named as Java names the threads of its collector.
fn collected(listener: TcpListener) -> io::Result<()> {
    let world = Arc::new(RwLock::new(()));
    let stopped = Arc::clone(&world);
    let collector = worker("GC Thread#0", move || {
        let _alone = stopped.write().unwrap_or_else(PoisonError::into_inner);
        work(Duration::from_millis(20));
    })?;
    let served = AtomicU64::new(0);
    on_threads(listener, move || {
        {
            let _running = world.read().unwrap_or_else(PoisonError::into_inner);
            work(Duration::from_micros(500));
        }
        if served.fetch_add(1, Ordering::Relaxed) % 20 == 19 { collector.done() } else { FINE }
    });
    Ok(())
}

/// From one file that has no name any more, so that nothing of it stays, and past the kernel's memory of files. Reading, since
/// storage may call written what it has in its own memory only, and then is quick at one time and slow at another.
fn stored(listener: TcpListener) -> io::Result<()> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let dir = if Path::new("/var/tmp").is_dir() { Path::new("/var/tmp").to_owned() } else { std::env::temp_dir() };
    let path = dir.join(format!("loadline-testbed-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
    let mut made = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let filled = (0..STORED_PLACES).try_for_each(|_| made.write_all(&vec![b'x'; STORED_BYTES])).and_then(|()| made.sync_all());
    let direct = OpenOptions::new().read(true).custom_flags(OFlags::DIRECT.bits().cast_signed()).open(&path);
    // A file system in memory has no storage to be short of.
    let file = direct.or_else(|_| File::open(&path));
    std::fs::remove_file(&path)?;
    filled?;
    let (file, next) = (file?, AtomicU64::new(0));
    on_threads(listener, move || {
        thread_local!(static BYTES: RefCell<Vec<u8>> = RefCell::new(vec![0; STORED_BYTES + PAGE_BYTES]));
        BYTES.with_borrow_mut(|bytes| {
            // What goes past the kernel's memory has to begin with a page.
            let from = bytes.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
            let place = next.fetch_add(1, Ordering::Relaxed) % STORED_PLACES * STORED_BYTES as u64;
            if file.read_exact_at(&mut bytes[from..from + STORED_BYTES], place).is_ok() { FINE } else { FAILED }
        })
    });
    Ok(())
}

/// Works on eight requests at a time and answers all others with `beyond`, as quickly as with anything else. Those are not at work:
/// who counts them too lets nobody in any more once it has begun to refuse.
fn crowded(listener: TcpListener, beyond: &'static str) {
    let at_work = AtomicU64::new(0);
    on_threads(listener, move || {
        let let_in = at_work.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |crowd| (crowd < CROWD_MAX).then_some(crowd + 1)).is_ok();
        let answer = wait(5, if let_in { FINE } else { beyond });
        if let_in {
            at_work.fetch_sub(1, Ordering::Relaxed);
        }
        answer
    });
}

fn asked(behind: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(behind)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: behind\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if answer.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_of_them_answers() {
        let workers = Shortage::Workers.serve(None).unwrap();
        for (name, shortage) in Shortage::ALL {
            assert_eq!(Shortage::named(name), Some(shortage));
            let mut stream = TcpStream::connect(shortage.serve(Some(workers)).unwrap()).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut answer = [0; 15];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200 OK", "{name}");
        }
        assert!(Shortage::Upstream.serve(None).is_err());
        assert_eq!(Shortage::named("money"), None);
    }

    #[test]
    fn whoever_admits_eight_goes_on_admitting_eight_beside_those_it_refuses() {
        let address = Shortage::Admission.serve(None).unwrap();
        let (let_in, refused) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let users: Vec<_> = (0..24)
            .map(|_| {
                let (let_in, refused) = (Arc::clone(&let_in), Arc::clone(&refused));
                thread::spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    for _ in 0..40 {
                        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
                        let mut answer = [0; 512];
                        let read = stream.read(&mut answer).unwrap();
                        let counted = if answer[..read].starts_with(b"HTTP/1.1 200") { &let_in } else { &refused };
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        users.into_iter().for_each(|user| user.join().unwrap());
        let (let_in, refused) = (let_in.load(Ordering::Relaxed), refused.load(Ordering::Relaxed));
        // A third of them fit; on a busy machine some come late.
        assert!(let_in + refused == 24 * 40 && let_in * 8 > refused && refused > 0, "{let_in} let in, {refused} refused");
    }

    #[test]
    fn beyond_its_rate_and_its_crowd_it_refuses() {
        let mut talk = Talk::new(TcpStream::connect(Shortage::Rate.serve(None).unwrap()).unwrap());
        let mut asked = 0;
        for _ in 0..500 {
            talk.stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            assert!(talk.asks(), "the head of an answer ends as that of a request does");
            asked += 1;
            if talk.read.is_empty() {
                break;
            }
            talk.read.clear();
        }
        // A refusal has no body, so nothing follows its head.
        assert!((200..500).contains(&asked), "{asked}");
    }
}
