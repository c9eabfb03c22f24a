//! One key serves one machine, also when two machines are bound at the same instant: a claim on a fingerprint
//! is taken before its binding is created and held until the store shows what became of it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use trusted_crds::Fingerprint;

/// The claims of this process.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<HashMap<Fingerprint, Held>>>);

#[derive(Debug)]
struct Held {
    binding: String,
    /// The request that creates the binding has not been answered yet, so that no store can know of it.
    in_flight: bool,
}

/// A claim while the binding is being created. Dropped without [`Claim::landed`], it is given back.
#[derive(Debug)]
pub struct Claim {
    claims: Claims,
    fingerprint: Fingerprint,
    landed: bool,
}

impl Claims {
    /// Claims `fingerprint` for the Secret `binding`. Refused while another Secret holds the claim, unless it was
    /// answered and `is_settled` says that the store shows what became of it.
    pub fn claim(
        &self,
        fingerprint: &Fingerprint,
        binding: &str,
        is_settled: impl Fn(&str) -> bool,
    ) -> Option<Claim> {
        let mut claims = self.0.lock();
        if claims.get(fingerprint).is_some_and(|held| held.in_flight || !is_settled(&held.binding)) {
            return None;
        }
        claims.insert(fingerprint.clone(), Held { binding: binding.to_owned(), in_flight: true });
        Some(Claim { claims: self.clone(), fingerprint: fingerprint.clone(), landed: false })
    }

    /// Gives back the claim of a binding that the store shows.
    pub fn release(&self, fingerprint: &Fingerprint, binding: &str) {
        let mut claims = self.0.lock();
        if claims.get(fingerprint).is_some_and(|held| !held.in_flight && held.binding == binding) {
            claims.remove(fingerprint);
        }
    }
}

impl Claim {
    /// The binding was created and is expected in the store; the claim stays until it is seen there.
    pub fn landed(mut self) {
        self.landed = true;
        if let Some(held) = self.claims.0.lock().get_mut(&self.fingerprint) {
            held.in_flight = false;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.landed {
            self.claims.0.lock().remove(&self.fingerprint);
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
        let first = claims.claim(&fingerprint, "ak-a", |_| false).unwrap();
        assert!(claims.claim(&fingerprint, "ak-b", |_| true).is_none(), "no store can know of it yet");
        claims.release(&fingerprint, "ak-a");
        assert!(claims.claim(&fingerprint, "ak-b", |_| true).is_none(), "nor is it released in flight");
        first.landed();
        assert!(claims.claim(&fingerprint, "ak-b", |_| false).is_none(), "answered, not visible");
        claims.release(&fingerprint, "ak-b");
        assert!(claims.claim(&fingerprint, "ak-b", |_| false).is_none(), "released by its holder alone");
        drop(claims.claim(&fingerprint, "ak-b", |holder| holder == "ak-a").unwrap());
        claims.claim(&fingerprint, "ak-c", |_| false).unwrap().landed();
        claims.release(&fingerprint, "ak-c");
        assert!(claims.claim(&fingerprint, "ak-d", |_| false).is_some());
    }
}
