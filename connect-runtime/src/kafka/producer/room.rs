//! How much of what waits is put into the client, and when the client is to send it.
//!
//! An idempotent client has one request of a partition under way. While it waits for the answer, its thread does not
//! sleep if the oldest record behind is older than the client's `linger.ms`: it asks for the answer again and again, and
//! uses a whole core, for as long as the broker is slower than the tasks. So two requests of each partition are in the
//! client and the rest waits with us; the client itself lingers for longer than a broker takes to answer; and the
//! operator's `linger.ms` is kept here.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use connect_sdk::task::ports::ProduceBatch;

use crate::kafka::{client_config::ClientConfig, ffi::Delivery};

/// Requests of each partition that are in the client: one under way, one that is filled meanwhile.
const REQUESTS_IN_CLIENT: usize = 2;
/// Partitions that are told apart; a client that writes to more may have as much as its own buffer takes.
const PARTITIONS_MAX: usize = 256;
/// How long the client itself waits for more records, at least. A request that is full does not wait.
const CLIENT_LINGER_MIN: Duration = Duration::from_millis(50);

/// The settings for a client whose records linger with us.
pub(super) fn entries(config: &ClientConfig) -> BTreeMap<String, String> {
    let mut entries = config.entries.clone();
    if let Some(linger) = own_linger(config) {
        entries.insert("linger.ms".to_owned(), linger.max(CLIENT_LINGER_MIN).as_millis().to_string());
    }
    entries
}

/// What the operator wants records to wait for others; none if the client itself sees to it: it sleeps while it waits for
/// answers, or records are not to wait.
fn own_linger(config: &ClientConfig) -> Option<Duration> {
    let is_idempotent = config.native("enable.idempotence") == Some("true") && config.transactional_id().is_none();
    let linger = config.native("linger.ms").and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
    linger.filter(|linger| is_idempotent && !linger.is_zero())
}

/// When the client has had enough for so long, it takes one more request: a partition that cannot be written now does not
/// keep the others waiting, before the client's own buffer is full.
pub(super) const RELIEF_PAUSE: Duration = Duration::from_millis(200);

/// The room in the client of one producer.
#[derive(Debug)]
pub(super) struct Room {
    /// The largest request: bytes and records. None if the client has all room.
    request: Option<(usize, usize)>,
    linger: Duration,
    /// Requests beyond the usual ones.
    more: usize,
    /// Since when the client has had enough.
    taken_since: Option<Instant>,
    /// When the records that are in the client have waited for long enough.
    due: Option<Instant>,
    /// Bytes of a record, as of the last batch.
    record_bytes: usize,
    /// Topic and partition of what was delivered; the latest last.
    partitions: Vec<(usize, i32)>,
}

impl Room {
    pub(super) fn new(config: &ClientConfig) -> Self {
        let number = |key, default| config.native(key).and_then(|value| value.parse().ok()).unwrap_or(default);
        let linger = own_linger(config);
        // librdkafka's defaults.
        let request = linger.map(|_| (number("batch.size", 1_000_000), number("batch.num.messages", 10_000)));
        Self {
            request,
            linger: linger.unwrap_or_default(),
            more: 0,
            taken_since: None,
            due: None,
            record_bytes: 1,
            partitions: Vec::new(),
        }
    }

    /// Whether the client has enough, so that the records of `batch` wait for a delivery.
    pub(super) fn is_taken(&mut self, n_in_client: usize, batch: &ProduceBatch, now: impl Fn() -> Instant) -> bool {
        self.record_bytes = (batch.n_bytes() / batch.records.len().max(1)).max(1);
        let Some(records) = self.request_records() else { return false };
        if n_in_client < REQUESTS_IN_CLIENT * records {
            (self.more, self.taken_since) = (0, None);
            return false;
        }
        if n_in_client < (REQUESTS_IN_CLIENT + self.more) * records {
            // Something was delivered since.
            self.taken_since = None;
            return false;
        }
        let now = now();
        if now.saturating_duration_since(*self.taken_since.get_or_insert(now)) < RELIEF_PAUSE {
            return true;
        }
        (self.more, self.taken_since) = (self.more + 1, Some(now));
        false
    }

    /// Records of one request of each partition; none if the client has all room.
    fn request_records(&self) -> Option<usize> {
        let (bytes, records) = self.request.filter(|_| self.partitions.len() < PARTITIONS_MAX)?;
        Some(self.partitions.len().max(1) * records.min(bytes / self.record_bytes).max(1))
    }

    /// How long records that are in the client may go on waiting for others: zero if it is to send what it has. None if it
    /// sends by itself.
    pub(super) fn lingers(&mut self, n_in_client: usize, now: Instant) -> Option<Duration> {
        // What lingers for longer than the client has to, lingers there.
        if self.request.is_none() || self.linger >= CLIENT_LINGER_MIN || n_in_client == 0 {
            self.due = None;
            return None;
        }
        let due = *self.due.get_or_insert(now + self.linger);
        // Whole requests go without being told.
        if self.request_records().is_some_and(|records| n_in_client >= records) {
            self.due = Some(now + self.linger);
            return None;
        }
        let left = due.saturating_duration_since(now);
        if left.is_zero() {
            self.due = Some(now + self.linger);
        }
        Some(left)
    }

    /// How many records may go in at once, when there is room.
    pub(super) fn run_max(&self, most: usize) -> usize {
        self.request_records().map_or(most, |records| records.clamp(1, most))
    }

    /// Notes where a record was delivered: each partition has requests of its own.
    #[inline]
    pub(super) fn delivered(&mut self, delivery: &Delivery) {
        let partition = (delivery.topic, delivery.partition);
        // The records of a request are reported one after the other.
        if self.request.is_none() || self.partitions.last() == Some(&partition) {
            return;
        }
        match self.partitions.iter().position(|known| *known == partition) {
            Some(at) => {
                let last = self.partitions.len() - 1;
                self.partitions.swap(at, last);
            }
            None if self.partitions.len() < PARTITIONS_MAX => self.partitions.push(partition),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::ClientKind;
    use connect_sdk::task::ports::ProduceRecord;

    fn room(entries: &[(&str, &str)]) -> Room {
        let config = ClientConfig::builder(ClientKind::Producer).set("bootstrap.servers", "localhost:1");
        Room::new(&config.prefixed("x.", entries.iter().copied()).build().unwrap().0)
    }

    fn batch(n: usize, record_bytes: usize) -> ProduceBatch {
        let record =
            ProduceRecord { topic: 0, partition: None, timestamp: None, key: None, value: None, headers: (0, 0) };
        let buffers = [vec![0; n * record_bytes], Vec::new()];
        ProduceBatch { buffers, records: vec![record; n], ..ProduceBatch::default() }
    }

    fn delivered(room: &mut Room, partition: i32) {
        room.delivered(&Delivery { opaque: 0, error: None, partition, topic: 1, len: 0 });
    }

    #[test]
    fn two_requests_of_each_partition_are_in_the_client() {
        let mut room = room(&[("x.batch.num.messages", "10000")]);
        let now = Instant::now();
        let mut taken = |partitions: &[i32], n: usize, bytes: usize| {
            partitions.iter().for_each(|partition| delivered(&mut room, *partition));
            (room.is_taken(n - 1, &batch(10, bytes), || now), room.is_taken(n, &batch(10, bytes), || now))
        };
        assert_eq!(taken(&[], 2 * 1000, 1000), (false, true), "a request is full of bytes");
        assert_eq!(taken(&[], 2 * 10_000, 10), (false, true), "a request is full of records");
        assert_eq!(taken(&[], 2, 5_000_000), (false, true), "a record is larger than a request");
        assert_eq!(taken(&[], 2 * 10_000, 0), (false, true), "tombstones");
        assert_eq!(taken(&[0, 0, 1, 0, 1, 2, 1], 3 * 2 * 1000, 1000), (false, true), "three partitions");
        assert!(!room.is_taken(0, &batch(0, 0), || now));
    }

    #[test]
    fn a_client_that_sends_nothing_takes_more_after_a_while() {
        let mut room = room(&[]);
        let start = Instant::now();
        let mut taken = |n, ms| room.is_taken(n, &batch(10, 1000), || start + Duration::from_millis(ms));
        assert_eq!([taken(2000, 0), taken(2000, 199), taken(2000, 200)], [true, true, false]);
        assert_eq!([taken(2999, 200), taken(3000, 200), taken(3000, 399)], [false, true, true], "one request more");
        assert_eq!([taken(3000, 400), taken(3999, 401), taken(4000, 401)], [false, false, true]);
        assert_eq!([taken(3500, 500), taken(4000, 602)], [false, true], "deliveries are no stall");
        assert_eq!([taken(1999, 402), taken(2000, 402)], [false, true], "as before once it has sent what it has");
    }

    #[test]
    fn records_linger_as_long_as_the_operator_wants() {
        let mut room = room(&[("x.linger.ms", "7")]);
        let start = Instant::now();
        let ms = Duration::from_millis;
        assert!(!room.is_taken(0, &batch(10, 1000), || start));
        let mut lingers = |n, at| room.lingers(n, start + ms(at));
        assert_eq!([lingers(0, 0), lingers(5, 1), lingers(6, 7)], [None, Some(ms(7)), Some(ms(1))]);
        assert_eq!([lingers(6, 8), lingers(6, 9)], [Some(ms(0)), Some(ms(6))], "told, and again if more has come");
        assert_eq!([lingers(1000, 10), lingers(6, 11)], [None, Some(ms(6))], "a whole request goes by itself");
        assert_eq!([lingers(0, 12), lingers(1, 13)], [None, Some(ms(7))], "all is sent, and more comes");
        let mut long = self::room(&[("x.linger.ms", "200")]);
        assert_eq!([long.lingers(5, start), long.lingers(5, start + ms(300))], [None, None], "the client sees to it");
    }

    #[test]
    fn the_client_lingers_for_longer_only_where_that_keeps_it_asleep() {
        let linger = |pairs: &[(&str, &str)]| {
            let config = ClientConfig::builder(ClientKind::Producer).set("bootstrap.servers", "localhost:1");
            entries(&config.prefixed("x.", pairs.iter().copied()).build().unwrap().0)["linger.ms"].clone()
        };
        assert_eq!(linger(&[]), "50");
        assert_eq!(linger(&[("x.linger.ms", "200")]), "200");
        assert_eq!(linger(&[("x.linger.ms", "0")]), "0");
        assert_eq!(linger(&[("x.enable.idempotence", "false")]), "5");
        assert_eq!(linger(&[("x.transactional.id", "t")]), "5");
    }

    #[test]
    fn a_client_that_sleeps_while_it_waits_takes_all() {
        let now = Instant::now;
        let mut of_others = room(&[("x.enable.idempotence", "false")]);
        assert!(!of_others.is_taken(usize::MAX, &batch(10, 1000), now));
        assert_eq!(of_others.lingers(5, now()), None);
        let mut room = room(&[]);
        (0..1000).for_each(|partition| delivered(&mut room, partition));
        assert_eq!(room.partitions.len(), PARTITIONS_MAX);
        assert!(!room.is_taken(usize::MAX, &batch(10, 1000), now));
    }
}
