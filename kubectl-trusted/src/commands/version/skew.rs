//! Which versions do not go together; pure.
//!
//! Owns the rules. What cannot be told, because a tag is no version, is no warning.

use super::document::{Versions, Workload};

/// The oldest Kubernetes whose CRDs have selectable fields by default, by which people and front ends find objects.
const OLDEST_API_SERVER: (u64, u64) = (1, 32);

/// The kinds this program was made for.
const KINDS: [&str; 4] = ["ApprovedImage", "AttestationKey", "Machine", "TrustedExecutionCluster"];

pub(crate) fn warnings(versions: &Versions) -> Vec<String> {
    let rules: [fn(&Versions) -> Option<String>; 4] = [operator, rollout, crds, api_server];
    rules.iter().filter_map(|rule| rule(versions)).collect()
}

/// Releases of one minor version go together.
fn operator(versions: &Versions) -> Option<String> {
    let own = versions.client.version;
    let other = versions.operator.as_ref()?.version.as_deref()?;
    let (own_minor, other_minor) = (minor(own)?, minor(other)?);
    (own_minor != other_minor).then(|| {
        let (older, remedy) = if own_minor < other_minor {
            ("this plug-in is older than the operator", "take the plug-in of that release")
        } else {
            ("the operator is older than this plug-in", "take both of one release")
        };
        format!("{older} ({own} and {other}), so it may misread what the operator says: {remedy}")
    })
}

fn rollout(versions: &Versions) -> Option<String> {
    let waiting =
        |workload: &Option<Workload>| workload.as_ref().is_some_and(|workload| !workload.rolled_out);
    let named = [("the operator", waiting(&versions.operator)), ("Trustee", waiting(&versions.trustee))];
    let named: Vec<_> = named.into_iter().filter(|(_, waits)| *waits).map(|(name, _)| name).collect();
    (!named.is_empty())
        .then(|| format!("not all pods of {} run the version shown here", named.join(" and of ")))
}

fn crds(versions: &Versions) -> Option<String> {
    let crds = versions.crds.as_ref()?;
    let known = trusted_crds::VERSION;
    if !crds.served.iter().any(|served| served == known) {
        return Some(format!(
            "the CRDs serve {}, and this plug-in knows {known}: take both of one release",
            crds.served.join(", ")
        ));
    }
    let missing: Vec<_> =
        KINDS.into_iter().filter(|kind| !crds.kinds.iter().any(|served| served == kind)).collect();
    (!missing.is_empty()).then(|| {
        format!("the CRDs of {} are missing; install them: kubectl apply -k deploy", missing.join(", "))
    })
}

fn api_server(versions: &Versions) -> Option<String> {
    let version = &versions.api_server.as_ref()?.version;
    let (major, oldest) = OLDEST_API_SERVER;
    (minor(version)? < OLDEST_API_SERVER).then(|| {
        format!(
            "the API server is Kubernetes {version}; {major}.{oldest} is the oldest that is known to work"
        )
    })
}

/// Major and minor of `v1.37.2`, `0.1.0-rc.1`, `1.33+`.
fn minor(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.trim_start_matches('v').split(['.', '-', '+']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::document::{ApiServer, Crds};
    use super::*;

    fn matching() -> Versions {
        let kinds = KINDS.map(str::to_owned).to_vec();
        let workload = |version: &str| Workload {
            image: "x".to_owned(),
            version: Some(version.to_owned()),
            rolled_out: true,
        };
        Versions {
            operator: Some(workload(env!("CARGO_PKG_VERSION"))),
            trustee: Some(workload("v0.17.0")),
            crds: Some(Crds::new(vec![trusted_crds::VERSION.to_owned()], kinds)),
            api_server: Some(ApiServer { version: "v1.37.2".to_owned() }),
            ..Versions::default()
        }
    }

    #[test]
    fn what_goes_together_is_not_warned_of() {
        assert!(warnings(&matching()).is_empty());
        assert!(warnings(&Versions::default()).is_empty(), "nothing is known");
        let mut latest = matching();
        latest.operator.as_mut().unwrap().version = Some("latest".to_owned());
        assert!(warnings(&latest).is_empty(), "a tag that is no version tells nothing");
    }

    #[test]
    fn every_mismatch_has_its_words() {
        type Change = fn(&mut Versions);
        let cases: [(Change, &str); 6] = [
            (|v| v.operator.as_mut().unwrap().version = Some("0.9.0".into()), "older than the operator"),
            (|v| v.operator.as_mut().unwrap().version = Some("v0.0.4".into()), "older than this plug-in"),
            (|v| v.trustee.as_mut().unwrap().rolled_out = false, "pods of Trustee run"),
            (|v| v.crds.as_mut().unwrap().served = vec!["v1".into()], "serve v1, and"),
            (|v| drop(v.crds.as_mut().unwrap().kinds.remove(2)), "CRDs of Machine are missing"),
            (|v| v.api_server.as_mut().unwrap().version = "v1.30.1".into(), "1.32 is the oldest"),
        ];
        for (change, says) in cases {
            let mut versions = matching();
            change(&mut versions);
            let told = warnings(&versions);
            assert!(told.len() == 1 && told[0].contains(says), "{says}: {told:?}");
        }
    }
}
