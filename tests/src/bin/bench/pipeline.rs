//! File to topic and topic to file: the same data and the same broker for every contender, in turns, each in a process
//! of its own, measured from outside in the same way.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use connect_tests::broker::{self, Kafka};
use connect_tests::{Cluster, Standalone, unique};
use xtask::repo;

use crate::data::{Data, same_contents};
use crate::measure::{Measurement, Work, watch};
use crate::report::{Figure, Limit, Row, Table};
use crate::tight_loop::{self, end_offset, start_loop};

/// Our rate against the tight loop's, at least.
const RATE_MIN: f64 = 0.8;
/// Our processor time per record against Java's with the same producer settings, at most.
const CPU_MAX_TUNED: f64 = 0.5;
/// Our processor time per record against Java's with its defaults, at most.
const CPU_MAX_DEFAULT: f64 = 0.2;
/// Our processor time per record against Java's with a chain of transformations, at most.
const CPU_MAX_CHAIN: f64 = 0.34;
/// JsonConverter with schemas behind three transformations: what the chain's benchmark adds to the source.
const CHAIN: [(&str, &str); 10] = [
    ("value.converter", "org.apache.kafka.connect.json.JsonConverter"),
    ("transforms", "hoist,origin,source"),
    ("transforms.hoist.type", "org.apache.kafka.connect.transforms.HoistField$Value"),
    ("transforms.hoist.field", "line"),
    ("transforms.origin.type", "org.apache.kafka.connect.transforms.InsertField$Value"),
    ("transforms.origin.static.field", "origin"),
    ("transforms.origin.static.value", "benchmark"),
    ("transforms.source.type", "org.apache.kafka.connect.transforms.InsertField$Value"),
    ("transforms.source.static.field", "source"),
    ("transforms.source.static.value", "file"),
];

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
    /// One direction only.
    #[arg(long, value_enum)]
    only: Option<Direction>,
    /// Who runs; all if not given.
    #[arg(long, value_enum, value_delimiter = ',')]
    contenders: Vec<Contender>,
    /// Exit with 1 if a ratio is missed.
    #[arg(long)]
    check: bool,
}

/// Which way the data go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Direction {
    Source,
    Sink,
    /// As source, with HoistField and two InsertField before JsonConverter with schemas.
    Chain,
}

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Contender {
    /// The client library alone, with the worker's client settings.
    TightLoop,
    /// The worker of this repository.
    Worker,
    /// Java's worker with the client settings of ours.
    JavaTuned,
    /// Java's worker as it comes.
    JavaDefault,
}

impl Contender {
    const ALL: [Self; 4] = [Self::TightLoop, Self::Worker, Self::JavaTuned, Self::JavaDefault];

    fn name(self) -> &'static str {
        match self {
            Self::TightLoop => "tight rdkafka loop",
            Self::Worker => "this worker",
            Self::JavaTuned => "Java, same client settings",
            Self::JavaDefault => "Java, its defaults",
        }
    }
}

struct Bench<'a> {
    cluster: Cluster,
    dir: &'a Path,
    options: &'a Options,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let kafka: Kafka = broker::start(broker::Options::new());
    let dir = repo::target_dir().join("bench").join(unique("run"));
    fs::create_dir_all(&dir).expect("a folder below the target folder can be created");
    let bench = Bench { cluster: Cluster::at(kafka.bootstrap()), dir: &dir, options };
    let mut kept = true;
    for value_bytes in &options.sizes {
        let data = Data::write(&dir, *value_bytes, options.mib << 20);
        for direction in [Direction::Source, Direction::Sink, Direction::Chain] {
            if options.only.is_none_or(|only| only == direction) {
                let table = bench.table(direction, &data);
                table.print();
                kept &= demands(direction, &table);
            }
        }
        fs::remove_file(&data.file).expect("an own file can be removed");
    }
    fs::remove_dir_all(&dir).expect("an own folder can be removed");
    if options.check && !kept { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn demands(direction: Direction, table: &Table) -> bool {
    let ours = Contender::Worker.name();
    if direction == Direction::Chain {
        return table.demand(Figure::Cpu, ours, Contender::JavaTuned.name(), Limit::AtMost(CPU_MAX_CHAIN));
    }
    // Every ratio is printed, also after one that is missed.
    [
        table.demand(Figure::Rate, ours, Contender::TightLoop.name(), Limit::AtLeast(RATE_MIN)),
        table.demand(Figure::Cpu, ours, Contender::JavaTuned.name(), Limit::AtMost(CPU_MAX_TUNED)),
        table.demand(Figure::Cpu, ours, Contender::JavaDefault.name(), Limit::AtMost(CPU_MAX_DEFAULT)),
    ]
    .into_iter()
    .all(|kept| kept)
}

impl Bench<'_> {
    fn table(&self, direction: Direction, data: &Data) -> Table {
        let (arrow, input) = match direction {
            Direction::Source => ("file -> topic", None),
            Direction::Sink => ("topic -> file", Some(self.filled_topic(data))),
            Direction::Chain => ("file -> 3 transformations -> JSON with schemas -> topic", None),
        };
        let runs = |c: &Contender| match direction {
            Direction::Source => true,
            // A sink has no producer, so Java has one set of settings only.
            Direction::Sink => *c != Contender::JavaDefault,
            Direction::Chain => matches!(c, Contender::Worker | Contender::JavaTuned),
        };
        let asked = |c: &Contender| self.options.contenders.is_empty() || self.options.contenders.contains(c);
        let contenders: Vec<Contender> = Contender::ALL.into_iter().filter(|c| runs(c) && asked(c)).collect();
        let mut rows: Vec<Row> =
            contenders.iter().map(|c| Row { name: c.name().to_owned(), runs: Vec::new() }).collect();
        for _ in 0..self.options.runs {
            for (contender, row) in contenders.iter().zip(&mut rows) {
                row.runs.push(match &input {
                    None => self.source(*contender, direction, data),
                    Some(topic) => self.sink(*contender, topic, data),
                });
            }
        }
        if let Some(topic) = input {
            self.cluster.delete_topic(&topic);
        }
        let title =
            format!("{arrow}, {} records of {} B, {} run(s)", data.records, data.value_bytes, self.options.runs);
        Table { title, value_bytes: data.value_bytes, rows }
    }

    fn filled_topic(&self, data: &Data) -> String {
        let topic = self.cluster.new_topic("bench-sink", 1);
        tight_loop::produce(self.cluster.bootstrap(), &topic, &data.file);
        topic
    }

    fn source(&self, contender: Contender, direction: Direction, data: &Data) -> Measurement {
        let topic = self.cluster.new_topic("bench-source", 1);
        let files;
        let mut process = match contender {
            Contender::TightLoop => start_loop(self.dir, "produce-loop", &self.cluster, &topic, &data.file, &[]),
            _ => {
                files = self.source_files(contender, direction, &topic, data);
                if contender == Contender::Worker { files.start() } else { files.start_java() }
            }
        };
        let work = Work { total: data.records, records: data.records, quiet: Duration::ZERO, slack: 0 };
        let end = end_offset(&self.cluster, &topic);
        let measured = watch(&mut process, work, end);
        drop(process);
        self.cluster.delete_topic(&topic);
        measured
    }

    fn sink(&self, contender: Contender, topic: &str, data: &Data) -> Measurement {
        let output = self.dir.join("output");
        let files;
        let mut process = match contender {
            Contender::TightLoop => {
                let records = data.records.to_string();
                start_loop(self.dir, "consume-loop", &self.cluster, topic, &output, &[&records])
            }
            _ => {
                files = self.sink_files(topic, &output);
                if contender == Contender::Worker { files.start() } else { files.start_java() }
            }
        };
        let total = data.records * (data.value_bytes + 1);
        let work = Work { total, records: data.records, quiet: Duration::ZERO, slack: 0 };
        let measured = watch(&mut process, work, || fs::metadata(&output).map_or(0, |metadata| metadata.len()));
        drop(process);
        assert!(same_contents(&data.file, &output), "{contender:?} wrote something else than the records");
        fs::remove_file(&output).expect("an own file can be removed");
        measured
    }

    fn files(&self) -> Standalone {
        Standalone::new(self.cluster.bootstrap()).unset("offset.flush.interval.ms")
    }

    fn source_files(&self, contender: Contender, direction: Direction, topic: &str, data: &Data) -> Standalone {
        let mut files = self.files();
        if contender == Contender::JavaTuned {
            for (key, value) in tight_loop::JAVA_PRODUCER {
                files = files.set(&format!("producer.{key}"), value);
            }
        }
        let file = data.file.display().to_string();
        let mut entries = vec![("connector.class", "FileStreamSource"), ("file", &*file), ("topic", topic)];
        if direction == Direction::Chain {
            entries.extend(CHAIN);
        }
        files.connector("bench", &entries)
    }

    fn sink_files(&self, topic: &str, output: &Path) -> Standalone {
        let (name, output) = (unique("bench"), output.display().to_string());
        self.files().connector(&name, &[("connector.class", "FileStreamSink"), ("file", &output), ("topics", topic)])
    }
}
