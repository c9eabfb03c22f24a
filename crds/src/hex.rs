//! Hexadecimal text.

use std::fmt::Write as _;

/// The bytes in lower-case hexadecimal digits, as every hash and fingerprint is written.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A String takes every write.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_is_two_digits() {
        assert_eq!(super::hex([0, 0x0a, 0xff]), "000aff");
        assert_eq!(super::hex([]), "");
    }
}
