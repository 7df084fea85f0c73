//! Which transactional ids a cluster knows.

use std::collections::BTreeMap;

use kafka_protocol::{messages::ListTransactionsRequest, protocol::StrBytes};

use super::cluster::{Cluster, Retry};
use crate::kafka::KafkaError;

/// The first version in which the broker itself leaves out ids (KIP-1152).
const PATTERN_VERSION: i16 = 2;

/// A transactional id and what its transaction coordinator says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionalId {
    /// The id.
    pub id: String,
    /// Kafka's word for the state of its last transaction, such as `Ongoing`, `CompleteCommit` or `Empty`.
    pub state: String,
}

impl Cluster {
    /// The transactional ids that begin with `prefix`, in order. Every broker is asked for those that it coordinates, so
    /// an id that moves from one broker to another in that moment can be missed. Ids that this client may not describe
    /// are left out by the brokers without a word.
    ///
    /// # Errors
    /// [`KafkaError::is_unsupported`] if a broker is older than Kafka 3.0 and cannot be asked. Retriable: a broker did
    /// not answer in time, after attempts for a minute; there is no answer of the others alone. Fatal: no login, no right.
    ///
    /// # Cancel safety
    /// Nothing is changed by asking.
    pub async fn list_transactional_ids(&mut self, prefix: &str) -> Result<Vec<TransactionalId>, KafkaError> {
        let mut retry = Retry::new(&self.settings);
        loop {
            match retry.attempt(self.transactional_ids_once(prefix)).await {
                Ok(ids) => return Ok(ids),
                Err(error) => retry.after(error).await?,
            }
        }
    }

    async fn transactional_ids_once(&mut self, prefix: &str) -> Result<Vec<TransactionalId>, KafkaError> {
        let pattern = (!prefix.is_empty()).then(|| StrBytes::from_string(pattern(prefix)));
        let request = move |version: i16| {
            let mut request = ListTransactionsRequest::default();
            request.transactional_id_pattern = pattern.clone().filter(|_| version >= PATTERN_VERSION);
            request
        };
        let mut found = BTreeMap::new();
        for answer in self.ask_all(request).await? {
            if answer.error_code != 0 {
                return Err(KafkaError::answered(answer.error_code, "transactional ids cannot be listed", ""));
            }
            for transaction in answer.transaction_states {
                if transaction.transactional_id.starts_with(prefix) {
                    found.insert(transaction.transactional_id.to_string(), transaction.transaction_state.to_string());
                }
            }
        }
        Ok(found.into_iter().map(|(id, state)| TransactionalId { id, state }).collect())
    }
}

/// A regular expression of RE2, which is what brokers read, for what begins with `prefix`.
fn pattern(prefix: &str) -> String {
    let mut pattern = String::from("(?s)");
    for c in prefix.chars() {
        if c.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push_str(".*");
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_means_itself_in_a_pattern() {
        assert_eq!(pattern("connect-cluster_1"), "(?s)connect\\-cluster\\_1.*");
        assert_eq!(pattern("a.b*(c)\\E|$ä"), "(?s)a\\.b\\*\\(c\\)\\\\E\\|\\$ä.*");
    }
}
