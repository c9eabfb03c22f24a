//! One key serves one machine, also when two machines are bound at the same instant: a claim on a fingerprint
//! is held from just before its binding is created until the store shows that binding.

use std::collections::HashMap;

use parking_lot::Mutex;
use trusted_crds::Fingerprint;

/// The claims of this process.
#[derive(Debug, Default)]
pub struct Claims(Mutex<HashMap<Fingerprint, String>>);

impl Claims {
    /// Claims `fingerprint` for the Secret `binding`. Refused while another Secret holds the claim and
    /// `is_settled` says of it that the store does not show yet what became of it.
    pub fn claim(&self, fingerprint: &Fingerprint, binding: &str, is_settled: impl Fn(&str) -> bool) -> bool {
        let mut claims = self.0.lock();
        match claims.get(fingerprint) {
            Some(holder) if holder != binding && !is_settled(holder) => false,
            _ => {
                claims.insert(fingerprint.clone(), binding.to_owned());
                true
            }
        }
    }

    /// Gives a claim of `binding` back.
    pub fn release(&self, fingerprint: &Fingerprint, binding: &str) {
        let mut claims = self.0.lock();
        if claims.get(fingerprint).is_some_and(|holder| holder == binding) {
            claims.remove(fingerprint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_exclusive_until_settled() {
        let fingerprint: Fingerprint = format!("sha256:{}", "1".repeat(64)).parse().unwrap();
        let claims = Claims::default();
        assert!(claims.claim(&fingerprint, "ak-a", |_| false));
        assert!(claims.claim(&fingerprint, "ak-a", |_| false), "again by its holder");
        assert!(!claims.claim(&fingerprint, "ak-b", |_| false));
        claims.release(&fingerprint, "ak-b");
        assert!(!claims.claim(&fingerprint, "ak-b", |_| false), "only its holder gives it back");
        assert!(claims.claim(&fingerprint, "ak-b", |holder| holder == "ak-a"));
        claims.release(&fingerprint, "ak-b");
        assert!(claims.claim(&fingerprint, "ak-c", |_| false));
    }
}
