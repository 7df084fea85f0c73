//! Ranges of versions as Maven writes them, which keys such as `connector.plugin.version` hold (KIP-891): `1.0`,
//! `[1.0,2.0)`, `(,1.0],[1.2,)`, `latest`. Follows `VersionRange` of maven-artifact and Kafka's
//! `PluginUtils.connectorVersionRequirement`.

mod version;

pub use version::compare;

use std::cmp::Ordering;
use std::fmt;

/// What a plugin's version must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange {
    /// None of them: every version is good.
    restrictions: Vec<Restriction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Restriction {
    lower: Option<String>,
    lower_inclusive: bool,
    upper: Option<String>,
    upper_inclusive: bool,
}

impl VersionRange {
    /// Reads a range. A version without brackets means exactly this one; `latest` is whatever is there.
    ///
    /// # Errors
    /// What is wrong with the text, in Maven's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "latest" {
            return Ok(Self { restrictions: Vec::new() });
        }
        let text = text.trim();
        if !text.starts_with(['[', '(']) {
            return Self::parse(&format!("[{text}]"));
        }
        let mut restrictions: Vec<Restriction> = Vec::new();
        let mut rest = text;
        while rest.starts_with(['[', '(']) {
            let end = rest.find([')', ']']).ok_or_else(|| format!("Unbounded range: {text}"))?;
            let (one, tail) = rest.split_at(end + 1);
            let restriction = Restriction::parse(one)?;
            // Behind a range without an end Maven asks no more.
            if let Some(Restriction { upper: Some(before), .. }) = restrictions.last()
                && restriction.lower.as_ref().is_none_or(|lower| compare(lower, before) == Ordering::Less)
            {
                return Err(format!("Ranges overlap: {text}"));
            }
            restrictions.push(restriction);
            rest = tail.trim();
            rest = rest.strip_prefix(',').map_or(rest, str::trim);
        }
        if !rest.is_empty() {
            return Err(format!("Only fully-qualified sets allowed in multiple set scenario: {text}"));
        }
        Ok(Self { restrictions })
    }

    /// Whether a version is good.
    #[must_use]
    pub fn contains(&self, version: &str) -> bool {
        self.restrictions.is_empty() || self.restrictions.iter().any(|one| one.contains(version))
    }

    /// Asks for a version of a plugin that is there in one.
    ///
    /// # Errors
    /// That the text is no range, or the plugin not there as wished, in the words of Kafka's `DelegatingClassLoader`.
    pub fn require(text: &str, class: &str, version: &str) -> Result<(), String> {
        let range = Self::parse(text)?;
        if range.contains(version) {
            return Ok(());
        }
        Err(format!("Plugin {class} not found that matches the version range {range}, available versions: [{version}]"))
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.restrictions.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let (open, close) =
                (if one.lower_inclusive { '[' } else { '(' }, if one.upper_inclusive { ']' } else { ')' });
            let (lower, upper) = (one.lower.as_deref().unwrap_or(""), one.upper.as_deref().unwrap_or(""));
            write!(f, "{comma}{open}{lower},{upper}{close}")?;
        }
        Ok(())
    }
}

impl Restriction {
    fn parse(text: &str) -> Result<Self, String> {
        let (lower_inclusive, upper_inclusive) = (text.starts_with('['), text.ends_with(']'));
        let inner = text[1..text.len() - 1].trim();
        let Some((lower, upper)) = inner.split_once(',') else {
            if !(lower_inclusive && upper_inclusive) {
                return Err(format!("Single version must be surrounded by []: {text}"));
            }
            let exactly = Some(inner.to_owned());
            return Ok(Self { lower: exactly.clone(), lower_inclusive, upper: exactly, upper_inclusive });
        };
        let bound = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let (lower, upper) = (bound(lower), bound(upper));
        if let (Some(lower), Some(upper)) = (&lower, &upper) {
            let order = compare(upper, lower);
            if order == Ordering::Less || order == Ordering::Equal && !(lower_inclusive && upper_inclusive) {
                return Err(format!("Range defies version ordering: {text}"));
            }
        }
        Ok(Self { lower, lower_inclusive, upper, upper_inclusive })
    }

    fn contains(&self, version: &str) -> bool {
        let within = |bound: &Option<String>, beyond: Ordering, inclusive: bool| {
            bound.as_deref().is_none_or(|bound| match compare(bound, version) {
                Ordering::Equal => inclusive,
                order => order != beyond,
            })
        };
        within(&self.lower, Ordering::Greater, self.lower_inclusive)
            && within(&self.upper, Ordering::Less, self.upper_inclusive)
    }
}

#[cfg(test)]
mod tests;
