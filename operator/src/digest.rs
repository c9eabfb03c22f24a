//! Hashes of what is written, without a copy of it.

use std::io;

use serde::Serialize;
use sha2::{Digest, Sha256};
use trusted_crds::hex;

/// SHA-256 of a value as JSON, in hexadecimal digits. Fields and maps have a fixed order, so equal values have equal
/// hashes.
pub fn hash_of(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut hasher = Hasher(Sha256::new());
    serde_json::to_writer(&mut hasher, value)?;
    Ok(hex(hasher.0.finalize()))
}

struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hash_is_that_of_the_json_text() {
        let value = json!({"a": [1, "x"], "b": {}});
        assert_eq!(hash_of(&value).unwrap(), hex(Sha256::digest(value.to_string())));
    }
}
