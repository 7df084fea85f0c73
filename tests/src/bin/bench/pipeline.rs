//! File to topic and topic to file: the same data and the same broker for every contender, one after the other, each in a
//! process of its own, measured from outside in the same way.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Args, ValueEnum};
use connect_tests::broker::{self, Kafka};
use connect_tests::{Cluster, Standalone, Worker, unique};
use rdkafka::consumer::{BaseConsumer, Consumer};
use xtask::repo;

use crate::measure::{Measurement, watch};
use crate::report::{Contender, Table};
use crate::tight_loop;

const TIMEOUT: Duration = Duration::from_secs(600);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const BUFFER_BYTES: usize = 1 << 20;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How much data each run moves, in MiB.
    #[arg(long, default_value_t = 400)]
    mib: u64,
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
}

/// The input of one record size.
struct Data {
    file: PathBuf,
    value_bytes: u64,
    records: u64,
}

struct Bench<'a> {
    cluster: Cluster,
    dir: &'a Path,
    contenders: &'a [Contender],
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let kafka: Kafka = broker::start(broker::Options::new());
    let dir = repo::target_dir().join("bench").join(unique("run"));
    fs::create_dir_all(&dir).expect("a folder below the target folder can be created");
    let bench = Bench { cluster: Cluster::at(kafka.bootstrap()), dir: &dir, contenders: &options.contenders };
    let mut kept = true;
    for value_bytes in &options.sizes {
        let data = Data::write(&dir, *value_bytes, options.mib << 20);
        for direction in [Direction::Source, Direction::Sink] {
            if options.only.is_none_or(|only| only == direction) {
                let table = match direction {
                    Direction::Source => bench.source(&data),
                    Direction::Sink => bench.sink(&data),
                };
                kept &= table.print();
            }
        }
        fs::remove_file(&data.file).expect("an own file can be removed");
    }
    fs::remove_dir_all(&dir).expect("an own folder can be removed");
    if options.check && !kept { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl Bench<'_> {
    fn source(&self, data: &Data) -> Table {
        let all = [Contender::TightLoop, Contender::Worker, Contender::JavaTuned, Contender::JavaDefault];
        let rows = self.contenders(&all).map(|contender| {
            let topic = self.cluster.new_topic("bench-source", 1);
            let measured = match contender {
                Contender::TightLoop => {
                    let mut process = self.tight_loop("produce-loop", &topic, &data.file, None);
                    self.watch_topic(&mut process, &topic, data)
                }
                _ => {
                    let files = self.source_files(contender, &topic, data);
                    let mut process = if contender == Contender::Worker { files.start() } else { files.start_java() };
                    self.watch_topic(&mut process, &topic, data)
                }
            };
            self.cluster.delete_topic(&topic);
            (contender, measured)
        });
        let title = format!("file -> topic, {} records of {} B", data.records, data.value_bytes);
        Table { title, value_bytes: data.value_bytes, rows: rows.collect() }
    }

    fn sink(&self, data: &Data) -> Table {
        let topic = self.cluster.new_topic("bench-sink", 1);
        tight_loop::produce(self.cluster.bootstrap(), &topic, &data.file);
        // A sink has no producer, so Java has one set of settings only.
        let all = [Contender::TightLoop, Contender::Worker, Contender::JavaTuned];
        let rows = self.contenders(&all).map(|contender| {
            let output = self.dir.join("output");
            let measured = match contender {
                Contender::TightLoop => {
                    let mut process = self.tight_loop("consume-loop", &topic, &output, Some(data.records));
                    watch_file(&mut process, &output, data)
                }
                _ => {
                    let files = self.sink_files(&topic, &output);
                    let mut process = if contender == Contender::Worker { files.start() } else { files.start_java() };
                    watch_file(&mut process, &output, data)
                }
            };
            assert!(same_contents(&data.file, &output), "{contender:?} wrote something else than the records");
            fs::remove_file(&output).expect("an own file can be removed");
            (contender, measured)
        });
        let title = format!("topic -> file, {} records of {} B", data.records, data.value_bytes);
        let rows = rows.collect();
        self.cluster.delete_topic(&topic);
        Table { title, value_bytes: data.value_bytes, rows }
    }

    /// Those of `all` that were asked for.
    fn contenders(&self, all: &[Contender]) -> impl Iterator<Item = Contender> {
        all.iter().copied().filter(|contender| self.contenders.is_empty() || self.contenders.contains(contender))
    }

    fn tight_loop(&self, name: &str, topic: &str, file: &Path, records: Option<u64>) -> Worker {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.args([name, self.cluster.bootstrap(), topic]).arg(file);
        command.args(records.map(|records| records.to_string()));
        Worker::run(command, &self.dir.join("loop.log"))
    }

    fn files(&self) -> Standalone {
        Standalone::new(self.cluster.bootstrap()).unset("offset.flush.interval.ms")
    }

    fn source_files(&self, contender: Contender, topic: &str, data: &Data) -> Standalone {
        let mut files = self.files();
        if contender == Contender::JavaTuned {
            for (key, value) in tight_loop::PRODUCER {
                files = files.set(&format!("producer.{key}"), value);
            }
        }
        let file = data.file.display().to_string();
        files.connector("bench", &[("connector.class", "FileStreamSource"), ("file", &file), ("topic", topic)])
    }

    fn sink_files(&self, topic: &str, output: &Path) -> Standalone {
        let (name, output) = (unique("bench"), output.display().to_string());
        self.files().connector(&name, &[("connector.class", "FileStreamSink"), ("file", &output), ("topics", topic)])
    }

    fn watch_topic(&self, process: &mut Worker, topic: &str, data: &Data) -> Measurement {
        let consumer: BaseConsumer = self.cluster.client_config().create().expect("the client properties are valid");
        watch(process, data.records, data.records, TIMEOUT, || {
            let (_, end) = consumer.fetch_watermarks(topic, 0, REQUEST_TIMEOUT).expect("the broker answers");
            u64::try_from(end).expect("offsets are not negative")
        })
    }
}

fn watch_file(process: &mut Worker, output: &Path, data: &Data) -> Measurement {
    let total = data.records * (data.value_bytes + 1);
    watch(process, total, data.records, TIMEOUT, || fs::metadata(output).map_or(0, |metadata| metadata.len()))
}

fn same_contents(left: &Path, right: &Path) -> bool {
    let open =
        |path: &Path| BufReader::with_capacity(BUFFER_BYTES, File::open(path).expect("an own file can be opened"));
    open(left).bytes().map(Result::ok).eq(open(right).bytes().map(Result::ok))
}

impl Data {
    /// Lines of letters and digits that differ from each other, as a log's do.
    fn write(dir: &Path, value_bytes: u64, bytes: u64) -> Self {
        let file = dir.join("input");
        let records = bytes / (value_bytes + 1);
        let width = usize::try_from(value_bytes).expect("a record fits into memory");
        let mut output = BufWriter::with_capacity(BUFFER_BYTES, File::create(&file).expect("a file can be created"));
        let mut line = String::with_capacity(width + 1);
        for number in 0..records {
            line.clear();
            let mut word = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            while line.len() < width {
                line.push_str(&format!("{word:016x} "));
                word = word.rotate_left(11).wrapping_add(number);
            }
            line.truncate(width);
            line.push('\n');
            output.write_all(line.as_bytes()).expect("a file can be written");
        }
        output.flush().expect("a file can be written");
        Self { file, value_bytes, records }
    }
}
