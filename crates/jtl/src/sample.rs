//! One request as JMeter's result files have it.
//!
//! Texts are borrowed where they can be: a row of a file lives in the reader's buffer until the next one, and a row that is to be written
//! in whatever it is made from. A struct of owned texts, the alternative, would allocate six times a row of files with a hundred million.

use std::borrow::Cow;

/// A row of a result file, by the default columns of JMeter 5.6
/// ([CSV](https://jmeter.apache.org/usermanual/listeners.html#csvlogformat), [XML](https://jmeter.apache.org/usermanual/listeners.html#xmlformat2.1)).
/// What a file does not hold is 0 or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample<'a> {
    /// When it began, in milliseconds since 1970 UTC (`timeStamp`, `ts`).
    pub time_stamp_ms: u64,
    /// Until the last byte (`elapsed`, `t`).
    pub elapsed_ms: u64,
    /// What it is called (`label`, `lb`).
    pub label: Cow<'a, str>,
    /// The status, or `Non HTTP response code: ` and the class of a Java exception (`responseCode`, `rc`).
    pub response_code: Cow<'a, str>,
    /// The reason phrase, or what went wrong (`responseMessage`, `rm`).
    pub response_message: Cow<'a, str>,
    /// Such as `shop 1-7`: group, its number, and the thread's (`threadName`, `tn`).
    pub thread_name: Cow<'a, str>,
    /// `text`, `bin` or empty (`dataType`, `dt`).
    pub data_type: Cow<'a, str>,
    /// Whether it was taken for a success (`success`, `s`).
    pub success: bool,
    /// What the first assertion that failed said (`failureMessage`; in XML an element of its own).
    pub failure_message: Cow<'a, str>,
    /// Received, headers included (`bytes`, `by`).
    pub bytes: u64,
    /// Sent (`sentBytes`, `sby`).
    pub sent_bytes: u64,
    /// Active threads of its group (`grpThreads`, `ng`).
    pub group_threads: u32,
    /// Active threads of all groups (`allThreads`, `na`).
    pub all_threads: u32,
    /// Where it went, `null` where JMeter knew none (`URL`; in XML an element of its own).
    pub url: Cow<'a, str>,
    /// Until the first byte (`Latency`, `lt`).
    pub latency_ms: u64,
    /// Of the time of a transaction, what lay between its requests (`IdleTime`, `it`).
    pub idle_ms: u64,
    /// Opening a connection, TLS included; 0 on one that stood (`Connect`, `ct`).
    pub connect_ms: u64,
}

/// What stands in a CSV file in the place of a URL where there is none.
pub const NO_URL: &str = "null";

/// What the message of a transaction begins with (`TransactionController`).
const TRANSACTION: &str = "Number of samples in transaction : ";

/// The message of a transaction of so many samples.
#[must_use]
pub fn transaction_message(samples: u32, failed: u32) -> String {
    format!("{TRANSACTION}{samples}, number of failing samples : {failed}")
}

impl Sample<'_> {
    /// Whether it sums up others, which have rows of their own or none.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.response_message.starts_with(TRANSACTION)
    }
}
