//! The calls of transactional producers. The crate's own wrapper waits 100 ms in each commit, and hides what a call's error
//! says about the next step.

use std::time::Duration;

use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;

use super::{Client, millis, text_of};

/// Why a call did not succeed, and what helps.
#[derive(Debug, Clone)]
pub(in super::super) struct TransactionFailure {
    pub(in super::super) code: RDKafkaErrorCode,
    pub(in super::super) text: String,
    /// Nothing but a new client.
    pub(in super::super) fatal: bool,
    /// The same call once more: it goes on where it was.
    pub(in super::super) retriable: bool,
    /// The end of the transaction by an abort.
    pub(in super::super) abortable: bool,
}

impl Client {
    /// Takes the transactional id. After a time-out the client goes on with it, and the next call waits for the same.
    pub(in super::super) fn init_transactions(&self, timeout: Duration) -> Result<(), TransactionFailure> {
        // SAFETY: the client is alive; the error object is handed to the function that frees it.
        unsafe { answer(sys::rd_kafka_init_transactions(self.rk(), millis(timeout))) }
    }

    /// Begins a transaction; no broker is asked.
    pub(in super::super) fn begin_transaction(&self) -> Result<(), TransactionFailure> {
        // SAFETY: as above.
        unsafe { answer(sys::rd_kafka_begin_transaction(self.rk())) }
    }

    /// Commits. All records must be acknowledged and their delivery reports read; a time-out is resumed as above.
    pub(in super::super) fn commit_transaction(&self, timeout: Duration) -> Result<(), TransactionFailure> {
        // SAFETY: as above.
        unsafe { answer(sys::rd_kafka_commit_transaction(self.rk(), millis(timeout))) }
    }

    /// Aborts. The delivery reports of all records must have been read; a time-out is resumed as above.
    pub(in super::super) fn abort_transaction(&self, timeout: Duration) -> Result<(), TransactionFailure> {
        // SAFETY: as above.
        unsafe { answer(sys::rd_kafka_abort_transaction(self.rk(), millis(timeout))) }
    }
}

/// Reads and frees an error object.
///
/// # Safety
/// `error` is null or an error object that nobody else frees.
unsafe fn answer(error: *mut sys::rd_kafka_error_t) -> Result<(), TransactionFailure> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller promises; everything is copied before the object is freed.
    unsafe {
        let failure = TransactionFailure {
            code: sys::rd_kafka_error_code(error).into(),
            text: text_of(sys::rd_kafka_error_string(error)),
            fatal: sys::rd_kafka_error_is_fatal(error) != 0,
            retriable: sys::rd_kafka_error_is_retriable(error) != 0,
            abortable: sys::rd_kafka_error_txn_requires_abort(error) != 0,
        };
        sys::rd_kafka_error_destroy(error);
        Err(failure)
    }
}
