//! Which object it is and in which version, in little room.
//!
//! One of these lies beside every stored object, whatever form the object itself is kept in. As two texts it would take
//! 120 bytes more, which is a fifth of a small object.

use crate::store::Held;

/// A [`Held`] as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Compact {
    /// As API servers have it: the uid is a UUID, the version a number.
    Usual { uid: [u8; 16], version: u64, deleting: bool },
    /// Anything else, which is kept as it is.
    Text(Box<Held>),
}

impl Compact {
    pub(crate) fn held(&self) -> Held {
        match self {
            Self::Usual { uid, version, deleting } => {
                Held { uid: uuid(*uid), version: version.to_string(), deleting: *deleting }
            }
            Self::Text(held) => Held::clone(held),
        }
    }

    /// The version, where it is a number.
    pub(crate) fn version(&self) -> Option<u64> {
        match self {
            Self::Usual { version, .. } => Some(*version),
            Self::Text(held) => held.version.parse().ok(),
        }
    }

    pub(crate) fn has_uid_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Usual { uid, .. }, Self::Usual { uid: other, .. }) => uid == other,
            _ => self.held().uid == other.held().uid,
        }
    }
}

impl From<Held> for Compact {
    fn from(held: Held) -> Self {
        let uid = u128::from_str_radix(&held.uid.replace('-', ""), 16).map(u128::to_be_bytes);
        if let (Ok(uid), Ok(version)) = (uid, held.version.parse()) {
            let usual = Self::Usual { uid, version, deleting: held.deleting };
            // Only what can be written in exactly one way may lose its text.
            if usual.held() == held {
                return usual;
            }
        }
        Self::Text(Box::new(held))
    }
}

fn uuid(bytes: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(uid: &str, version: &str) -> Held {
        Held { uid: uid.to_owned(), version: version.to_owned(), deleting: true }
    }

    #[test]
    fn whatever_a_server_calls_an_object_comes_back_as_it_was() {
        const UUID: &str = "0a1b2c3d-0000-4000-8000-00000000000f";
        let usual = Compact::from(held(UUID, "17"));
        assert!(matches!(usual, Compact::Usual { version: 17, .. }));
        assert_eq!(usual.held(), held(UUID, "17"));
        let upper = UUID.to_uppercase();
        let bare = UUID.replace('-', "");
        for (uid, version) in
            [("", ""), ("1", "1"), (UUID, "abc"), (UUID, "017"), (UUID, "+17"), (&upper, "17"), (&bare, "17")]
        {
            let text = Compact::from(held(uid, version));
            assert!(matches!(text, Compact::Text(_)), "{uid} {version}");
            assert_eq!(text.held(), held(uid, version));
        }
    }

    #[test]
    fn uids_are_compared_in_any_form() {
        const UUID: &str = "0a1b2c3d-0000-4000-8000-00000000000f";
        let (number, text, other) = (held(UUID, "1"), held(UUID, "a"), held("u", "1"));
        let [number, text, other] = [number, text, other].map(Compact::from);
        assert!(number.has_uid_of(&text) && text.has_uid_of(&number) && number.has_uid_of(&number));
        assert!(!number.has_uid_of(&other) && !other.has_uid_of(&text));
    }
}
