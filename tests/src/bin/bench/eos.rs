//! What exactly-once costs: the same file to a topic at least once, twice (the difference of the two is noise), and
//! exactly once with transactions of 1 s and of growing size, beside a tight transactional loop and Java's worker.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use connect_tests::broker::{self, Kafka};
use connect_tests::{Cluster, JavaDistributed, Standalone, unique};
use xtask::repo;

use crate::data::Data;
use crate::measure::{Measurement, Work, watch};
use crate::report::{Figure, Limit, Row, Table};
use crate::tight_loop::{JAVA_PRODUCER, end_offset, start_loop};

/// Our exactly-once rate at 1 s against our at-least-once rate, at least, with records of 1 KiB.
const RATE_MIN: f64 = 0.95;
/// Our exactly-once rate against Java's with the same client settings, at least, with records of 100 B.
const JAVA_RATE_MIN: f64 = 4.0;
/// Our exactly-once rate against the tight transactional loop's; with larger records the lower of this and
/// [`JAVA_RATE_MIN`] counts.
const LOOP_RATE_MIN: f64 = 0.8;
/// Records of up to this size are small.
const SMALL_BYTES: u64 = 100;
/// The interval of transactions.
const INTERVAL: Duration = Duration::from_secs(1);
/// An interval that no run reaches: transactions end by their size.
const NEVER_MS: &str = "60000";
/// Longer than the interval: the last transaction has ended.
const QUIET: Duration = Duration::from_millis(1_500);
/// KiB in a transaction, along the curve.
const CURVE_KIB: [u64; 5] = [64, 256, 1_024, 4_096, 16_384];

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How much data each run moves, in MiB.
    #[arg(long, default_value_t = 400)]
    mib: u64,
    /// How often each contender runs, in turns.
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Sizes of a record's value, in bytes.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1024])]
    sizes: Vec<u64>,
    /// Leaves Java's worker out.
    #[arg(long)]
    no_java: bool,
    /// Leaves the curve out.
    #[arg(long)]
    no_curve: bool,
    /// Exit with 1 if a ratio is missed.
    #[arg(long)]
    check: bool,
}

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    AtLeastOnce,
    /// The same once more: how far apart two equal things are.
    Control,
    Interval,
    /// KiB in a transaction.
    Size(u64),
    TightLoop,
    JavaAtLeastOnce,
    JavaExactlyOnce,
}

impl Contender {
    fn name(self) -> String {
        match self {
            Self::AtLeastOnce => "at least once".to_owned(),
            Self::Control => "at least once, control".to_owned(),
            Self::Interval => "exactly once, 1 s".to_owned(),
            Self::Size(kib) => format!("exactly once, {kib} KiB"),
            Self::TightLoop => "tight transactional loop, 1 s".to_owned(),
            Self::JavaAtLeastOnce => "Java, same settings, at least once".to_owned(),
            Self::JavaExactlyOnce => "Java, same settings, 1 s".to_owned(),
        }
    }
}

struct Bench<'a> {
    cluster: Cluster,
    dir: &'a Path,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let kafka: Kafka = broker::start(broker::Options::new());
    let dir = repo::target_dir().join("bench").join(unique("run"));
    fs::create_dir_all(&dir).expect("a folder below the target folder can be created");
    let bench = Bench { cluster: Cluster::at(kafka.bootstrap()), dir: &dir };
    let mut contenders = vec![Contender::AtLeastOnce, Contender::Interval, Contender::Control, Contender::TightLoop];
    if !options.no_curve {
        contenders.extend(CURVE_KIB.map(Contender::Size));
    }
    if !options.no_java {
        contenders.extend([Contender::JavaAtLeastOnce, Contender::JavaExactlyOnce]);
    }
    let mut kept = true;
    for value_bytes in &options.sizes {
        let data = Data::write(&dir, *value_bytes, options.mib << 20);
        let mut rows: Vec<Row> = contenders.iter().map(|c| Row { name: c.name(), runs: Vec::new() }).collect();
        for _ in 0..options.runs {
            for (contender, row) in contenders.iter().zip(&mut rows) {
                row.runs.push(bench.run(*contender, &data));
            }
        }
        let title = format!("file -> topic, {} records of {} B, {} run(s)", data.records, value_bytes, options.runs);
        let table = Table { title, value_bytes: *value_bytes, rows };
        table.print();
        kept &= demands(&table);
        fs::remove_file(&data.file).expect("an own file can be removed");
    }
    fs::remove_dir_all(&dir).expect("an own folder can be removed");
    if options.check && !kept { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn demands(table: &Table) -> bool {
    let name = Contender::name;
    let ours = name(Contender::Interval);
    let small = table.value_bytes <= SMALL_BYTES;
    let cost = if small { Limit::None } else { Limit::AtLeast(RATE_MIN) };
    let (tight, java) = (name(Contender::TightLoop), name(Contender::JavaExactlyOnce));
    let beside_loop = table.ratio(Figure::Rate, &ours, &tight);
    // With larger records either of the two is enough.
    let enough = !small && beside_loop.is_some_and(|ratio| ratio >= LOOP_RATE_MIN);
    let beside_java = if enough { Limit::None } else { Limit::AtLeast(JAVA_RATE_MIN) };
    // Every ratio is printed, also after one that is missed.
    [
        table.demand(Figure::Rate, &ours, &name(Contender::AtLeastOnce), cost),
        table.demand(Figure::Rate, &name(Contender::Control), &name(Contender::AtLeastOnce), Limit::None),
        table.demand(Figure::Rate, &ours, &tight, Limit::None),
        table.demand(Figure::Rate, &ours, &java, beside_java),
        table.demand(Figure::Rate, &java, &name(Contender::JavaAtLeastOnce), Limit::None),
        table.demand(Figure::Cpu, &ours, &java, Limit::None),
    ]
    .into_iter()
    .all(|kept| kept)
}

impl Bench<'_> {
    fn run(&self, contender: Contender, data: &Data) -> Measurement {
        let topic = self.cluster.new_topic("bench-eos", 1);
        let end = end_offset(&self.cluster, &topic);
        // The marker of the last transaction comes after the work.
        let work = Work { total: data.records, records: data.records, quiet: QUIET, slack: 1 };
        let measured = match contender {
            Contender::TightLoop => {
                let interval = INTERVAL.as_millis().to_string();
                let mut process =
                    start_loop(self.dir, "transaction-loop", &self.cluster, &topic, &data.file, &[&interval]);
                watch(&mut process, work, end)
            }
            Contender::JavaAtLeastOnce | Contender::JavaExactlyOnce => {
                let mut java = self.start_java(contender, &topic, data);
                watch(&mut java.worker, work, end)
            }
            _ => {
                let files = self.files(contender, &topic, data);
                watch(&mut files.start(), work, end)
            }
        };
        self.cluster.delete_topic(&topic);
        measured
    }

    fn files(&self, contender: Contender, topic: &str, data: &Data) -> Standalone {
        let (file, name) = (data.file.display().to_string(), unique("bench"));
        let bytes = match contender {
            Contender::Size(kib) => (kib << 10).to_string(),
            _ => String::new(),
        };
        let mut entries =
            vec![("connector.class", "FileStreamSource"), ("file", &*file), ("topic", topic), ("tasks.max", "1")];
        if !matches!(contender, Contender::AtLeastOnce | Contender::Control) {
            entries.extend([("exactly.once.source.support", "enabled"), ("transaction.boundary", "interval")]);
        }
        match contender {
            Contender::Size(_) => entries
                .extend([("transaction.boundary.interval.ms", NEVER_MS), ("transaction.boundary.max.bytes", &bytes)]),
            Contender::Interval => entries.push(("transaction.boundary.interval.ms", "1000")),
            _ => {}
        }
        // Both kinds keep their offsets in the same place.
        Standalone::new(self.cluster.bootstrap())
            .set("offset.flush.interval.ms", "1000")
            .set("offset.storage.topic", format!("{name}-offsets"))
            .connector(&name, &entries)
    }

    fn start_java(&self, contender: Contender, topic: &str, data: &Data) -> JavaDistributed {
        let producer = JAVA_PRODUCER.map(|(key, value)| (format!("producer.{key}"), value));
        let mut settings: Vec<(&str, &str)> = producer.iter().map(|(key, value)| (&**key, *value)).collect();
        settings.push(("offset.flush.interval.ms", "1000"));
        if contender == Contender::JavaExactlyOnce {
            settings.push(("exactly.once.source.support", "enabled"));
        }
        let mut java = JavaDistributed::start(self.cluster.bootstrap(), &settings);
        let file = data.file.display().to_string();
        let mut entries = vec![
            ("connector.class", "org.apache.kafka.connect.file.FileStreamSourceConnector"),
            ("file", &*file),
            ("topic", topic),
            ("batch.size", "2000"),
        ];
        if contender == Contender::JavaExactlyOnce {
            entries.extend([("transaction.boundary", "interval"), ("transaction.boundary.interval.ms", "1000")]);
        }
        java.create("bench", &entries);
        java
    }
}
